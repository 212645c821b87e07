#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/document.h"
#include "report/format/sentences.h"

// Words that several sections and documents share.
namespace llmprof::report {

// ---- stages: stage_words.cpp

// The device that all kernels of this profile ran on.
bool on_cpu(const profile::Profile& profile);
std::string_view device_word(const profile::Profile& profile);  // "GPU", "CPU"

// Whether instances are an engine's steps (continuous batching).
bool is_serving(const profile::Profile& profile);
// Null if there is none.
const profile::Stage* find_stage(const profile::Profile& profile, std::string_view name);

// Whether any stage decodes step by step.
bool has_decode_steps(const profile::Profile& profile);

// The share of kernel time after initialization that is inside stages; for a profile of an earlier
// llmprof, the share of all kernel time.
std::optional<profile::Share> covered_share(const profile::Profile& profile);

// False if stages are forward passes of a model that is not recognized as an LLM.
bool has_tokens(const profile::Profile& profile);
// "confidence high, 95 %" for detected stages, otherwise empty.
std::string confidence_words(const profile::Profile& profile);
// "Stages are guessed from the kernel sequence (confidence high, 95 %). "; if the model is not
// recognized as an LLM, says so. Empty if stages were not detected.
std::string guess_sentence(const profile::Profile& profile);

// The name of one instance of a stage: "prefill"; under continuous batching "engine step".
std::string instance_name(const profile::Profile& profile, std::string_view stage);
// The steps of a stage: "8", or "4 of 8 traced"; "-" for prefills of one pass each.
Cell step_count_cell(const profile::Stage& stage);
// The token times to show; empty for a profile that analysis/shown has not completed.
const profile::TokenTimesShown& shown_tokens(const profile::Profile& profile);
// "the whole capture", or "the selection".
std::string_view scope_words(const profile::Profile& profile);

// The number of sequences or tokens, as far as known.
struct TokenCount {
  std::string_view what;
  std::optional<uint64_t> value;
  std::string source;  // "--batch", "assumed"; empty if unknown
};
std::vector<TokenCount> token_counts(const profile::Workload& workload);

// The shortest time that a stage could take; none if its limit is unknown.
std::optional<profile::Milliseconds> known_floor(const profile::Stage& stage);
std::string bound_words(const profile::Stage& stage);  // "memory", "compute", or "-"

// The stage's largest idle part, or its largest other part; null if there is none.
const profile::BudgetPart* largest_part(const profile::Stage& stage, bool idle);

// The largest opportunity: the first finding with a known saving; null if there is none.
const profile::Finding* first_gain(const profile::Profile& profile);
// per_unit of all findings; empty if they differ or there are none.
std::string per_unit(const profile::Profile& profile);

// ---- times without tracing: tracing_words.cpp

// Whether unwatched times are known for every stage.
bool all_unwatched(const profile::Profile& profile);

// Whether they are known for any stage.
bool any_unwatched(const profile::Profile& profile);

// Whether the stage's times include an unknown tracing overhead.
bool includes_tracing(const profile::Profile& profile, const profile::Stage& stage);

// Whose times the report shows, how they were obtained, and what tracing added, or that this is
// unknown; empty without stages.
std::string times_words(const profile::Profile& profile);

// The same for the budget of one stage: which parts are recorded, and which scaled.
std::string budget_basis_words(const profile::Stage& stage);

// One or two sentences for each stage with instances excluded from statistics: which, how long,
// why. Not for an engine's steps.
std::vector<std::string> left_out_words(const profile::Profile& profile);

// Why a stage's mean may mislead: the program's own clock may count a warm-up, or only a cold start
// was recorded. Empty if neither applies.
std::string mean_caveats(const profile::Profile& profile);

// ---- token times

// What users of the model wait for (token_times.shown.figures), in words.
struct TokenFigureWords {
  std::string name;  // "time to first token", "time per output token"
  std::string text;  // in ms: "6.000", "8.615 to 52.928"
  std::string of;    // "mean of 3 prefills"
};
TokenFigureWords token_figure_words(const profile::Profile& profile,
                                    const profile::TokenFigure& figure);

// The recording window in which an engine's requests got the most tokens; null if request times are
// unknown.
const profile::ServedWindow* shown_window(const profile::Profile& profile);

// Times that an engine's requests saw, in a sentence; empty if unknown.
std::string served_words(const profile::Profile& profile);

// ---- the engine: capture_sections.cpp

// "llama.cpp, CUDA graphs replay 99.2 % of its kernels (confidence 99 %)"; "not recognized".
std::string engine_words(const profile::Profile& profile);

// Whether PyTorch recorded any of the captures.
bool is_pytorch_trace(const profile::Profile& profile);

// Whether the input has kernels but none from a framework, and no framework recorded it: reports
// then do not mention one.
bool without_framework(const profile::Profile& profile);
inline constexpr std::string_view kNoFramework =
    "this input contains no framework operators or kernels";

// ---- where kernels' figures come from

// Whether a kernel's place in the roofline is from samples of the GPU's counters.
inline bool is_by_counters(const profile::RooflineKernel& kernel) {
  return kernel.source == profile::RooflineSource::counters;
}

// Of the compute units, counters cover only tensor cores, so they cannot show latency.
inline bool latency_is_known(const profile::Roofline& roofline) {
  return !std::all_of(roofline.kernels.begin(), roofline.kernels.end(), is_by_counters);
}

// ---- damage: capture_sections.cpp

// Whether a part of an input could not be read, so that missing data may have been in it.
bool is_damaged(const profile::Profile& profile);

// Says first in a report what could not be read; nothing if all could.
void add_damage(const profile::Profile& profile, Document& document);

// Whether add_damage already reports this diagnostic.
bool is_damage(const profile::Profile& profile, const profile::Diagnostic& diagnostic);

// ---- kernels by the time that reports rank them by: kernel_sections.cpp

// A kernel with the time that reports rank it by.
struct RankedKernel : profile::MeasuredTime {
  const profile::Kernel* kernel = nullptr;
};

// Whether kernels are ranked by their time in the stages, warm-up excluded.
bool ranks_measured_kernels(const profile::Profile& profile);

// Longest first: kernels of the measured stages, or all if there are no stages.
std::vector<RankedKernel> ranked_kernels(const profile::Profile& profile);

// The denominator of shares: "the measured stages' kernel time", "kernel time".
std::string_view ranked_time_words(const profile::Profile& profile);

// ---- what is missing: reasons.cpp

// For a job, instead of what needs single events.
inline constexpr std::string_view kOfSingleRanks =
    "Reported for single ranks: analyze the capture of one rank alone.";

// Why something is missing in this input, and what would record it, as clauses.
std::string why_no_stages(const profile::Profile& profile);
// A short version for sections that need stages.
std::string why_no_stage_figures(const profile::Profile& profile);
// Empty if the timeline of a GPU was analyzed.
std::string why_no_device_time(const profile::Profile& profile);
std::string why_no_steps(const profile::Profile& profile);
std::string why_no_layers(const profile::Profile& profile);
std::string why_no_utilization(const profile::Profile& profile);
std::string why_no_kernel_bounds(const profile::Profile& profile);
std::string why_no_operators(const profile::Profile& profile);
std::string why_no_findings(const profile::Profile& profile);
// Says that a PyTorch trace was recorded without GPU activities; empty if not.
std::string cpu_only_words(const profile::Profile& profile);
// Says that there are no stages, and why, as a sentence.
std::string no_stages_words(const profile::Profile& profile);

// ---- the ranks of a job: job_sections.cpp

// The job in one line, then what is missing from it; empty without a job.
std::vector<std::string> job_sentences(const profile::Profile& profile);
// "Other ranks wait for rank 1 in decode, 0.8000 ms per step (30.3 % of it): ..."; empty without a
// straggler.
std::string straggler_sentence(const profile::Profile& profile);

}  // namespace llmprof::report
