#pragma once

#include <string>
#include <string_view>

#include "analysis/profile.h"
#include "report/document.h"
#include "report/facts.h"

namespace llmprof {

// A profile with all that reports say about it.
struct Reported {
  explicit Reported(const Profile& of)
      : profile(of), facts(derive_facts(of)), stages(of.stages.stages) {}

  const Profile& profile;
  Facts facts;
  const std::vector<Stage>& stages;
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

// Why something is missing, as clauses.
std::string why_no_stages(const Profile& profile);
std::string why_no_utilization(const Profile& profile);
std::string why_no_operators(const Profile& profile);
std::string why_no_findings(const Profile& profile);

// Shared with the stakeholder summary.
std::string coverage_sentence(const Reported& reported);
// The stage's largest part that is not idle time, and the largest that is; null where there is
// none.
const BudgetRow* largest_part(const StageFacts& facts, bool idle);
Table operator_table(const Profile& profile, size_t rows);
// The longest kernels by grid and block: `products` keeps to matrix products.
Table shape_table(const Reported& reported, size_t kernels, bool products);

// "a request"; under continuous batching "a step".
std::string_view instance_words(const Profile& profile);
// A part of the budget for people who write no kernels: "matrix products".
std::string_view plain_part_name(size_t part);

// Both end with one full stop. A sentence stands alone, a clause follows a colon or "because":
// their first word, where it is no name, begins with a capital letter or not.
std::string sentence(std::string_view reason);
std::string clause(std::string_view reason);

Column text_column(std::string_view title);
Column number_column(std::string_view title);
Column code_column(std::string_view title);

}  // namespace llmprof
