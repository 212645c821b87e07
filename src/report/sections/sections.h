#pragma once

#include <string>
#include <string_view>

#include "analysis/profile.h"
#include "report/document.h"
#include "report/facts.h"

namespace llmprof::report {

// A profile with all that reports say about it.
struct Reported {
  explicit Reported(const analysis::Profile& of)
      : profile(of), facts(derive_facts(of)), stages(of.stages.stages) {}

  [[nodiscard]] const analysis::DeviceWords& words() const {
    return analysis::device_words(profile.device);
  }
  // A part of the budget as this device has it.
  [[nodiscard]] std::string part_name(size_t part) const {
    return std::string(analysis::budget_part_name(part, profile.device));
  }

  const analysis::Profile& profile;
  Facts facts;
  const std::vector<analysis::Stage>& stages;
};

// The sections of report.md, in its order. Each adds its heading, and what it knows or one sentence
// on what capture or flag would fill it.
void add_key_figures(const Reported& reported, Document& document);
void add_captures(const Reported& reported, Document& document);
void add_stage_timings(const Reported& reported, Document& document);
void add_token_times(const Reported& reported, Document& document);
void add_utilization(const Reported& reported, Document& document);
void add_time_budget(const Reported& reported, Document& document);
void add_idle_gaps(const Reported& reported, Document& document);
void add_slow_steps(const Reported& reported, Document& document);
void add_layers(const Reported& reported, Document& document);
void add_top_kernels(const Reported& reported, Document& document);
void add_roofline(const Reported& reported, Document& document);
void add_recoverable(const Reported& reported, Document& document);
void add_findings(const Reported& reported, Document& document);
void add_operators(const Reported& reported, Document& document);
void add_diagnostics(const Reported& reported, Document& document);
// What the GPU's own counters and sensors say, behind MFU and MBU; nothing where they were off.
void add_measured(const Reported& reported, Document& document);
// Which figures are of traced steps alone; nothing where all was traced.
void add_tracing_notes(const Reported& reported, Document& document);
// Nothing where there is nothing to tell.
void add_overhead(const Reported& reported, Document& document);
void add_failed_captures(const analysis::Profile& profile, Document& document);
// The largest overhead, as a sentence; empty where none was measured.
std::string overhead_words(const analysis::Profile& profile);
// What tracing cost a step as the run itself measured it, or why that is not known, as a sentence;
// empty without a duty cycle.
std::string collector_overhead_words(const analysis::Profile& profile);
// "decode moves 12.50 GB an instance to and from memory, ..."; empty where nothing was measured.
std::string measured_words(const Reported& reported);

// Why something is missing, as clauses.
std::string why_no_stages(const analysis::Profile& profile);
std::string why_no_utilization(const analysis::Profile& profile);
std::string why_no_operators(const analysis::Profile& profile);
std::string why_no_findings(const analysis::Profile& profile);
// That there are no stages, and why, as a sentence.
std::string no_stages_words(const analysis::Profile& profile);
// The value; "1 (assumed)" where nobody said it.
std::string token_count_words(const analysis::TokenCount& count);

// Shared with the stakeholder summary.
std::string coverage_sentence(const Reported& reported);
// The stage's largest part that is not idle time, and the largest that is; null where there is
// none.
const BudgetRow* largest_part(const StageFacts& facts, bool idle);
Table operator_table(const analysis::Profile& profile, size_t rows);
// How much of the GPU's work has an operator, and why the rest has none.
std::string operator_coverage_words(const Reported& reported);
// The longest kernels by grid and block: `products` keeps to matrix products.
Table shape_table(const Reported& reported, size_t kernels, bool products);

// What was narrowed to, as a sentence: "Only steps 4 to 11 of each decode (--steps 4:12)."; empty
// where nothing was.
std::string selection_words(const analysis::Profile& profile);
// The same as a note on top of a report.
void add_selection(const analysis::Profile& profile, Document& document);
// "the whole capture", or "the selection".
std::string_view scope_words(const analysis::Profile& profile);
// What findings bring their time in: "a request"; "in the traced part of a request" where not all
// steps were traced; under continuous batching "an engine step"; of one stage only "a decode"; of
// some steps only "per 8 steps".
std::string instance_words(const analysis::Profile& profile);
// What one instance of a stage is called: "prefill"; under continuous batching "engine step".
std::string instance_name(const analysis::Profile& profile, std::string_view stage);
// The steps of a stage; "-" for prefills of one pass each, which is no step count.
std::string step_count_words(const analysis::Stage& stage, const StageFacts& facts);
// Whether what limits a stage is known: MFU and MBU both stand, none was refused.
bool bound_is_known(const analysis::StageUtilization* use);
// Whether a stage loses more to waiting than to its longest work, and whether mostly for the host.
bool mostly_idle(const StageFacts& facts);
bool waits_for_host(const StageFacts& facts);
// A part of the budget for people who write no kernels: "matrix products".
std::string_view plain_part_name(const Reported& reported, size_t part);

// Both end with one full stop. A sentence stands alone, a clause follows a colon or "because":
// their first word, where it is no name, begins with a capital letter or not.
std::string sentence(std::string_view reason);
std::string clause(std::string_view reason);

Column text_column(std::string_view title);
Column number_column(std::string_view title);
Column code_column(std::string_view title);

}  // namespace llmprof::report
