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

// What several sections and documents say.
namespace llmprof::report {

// ---- stages: stage_words.cpp

// What all kernels of this profile ran on.
bool on_cpu(const profile::Profile& profile);
std::string_view device_word(const profile::Profile& profile);  // "GPU", "CPU"

// Instances are an engine's steps (continuous batching).
bool is_serving(const profile::Profile& profile);
// Null where there is none.
const profile::Stage* find_stage(const profile::Profile& profile, std::string_view name);

// Whether any stage decodes step by step.
bool has_decode_steps(const profile::Profile& profile);

// Of the kernel time after initialization, inside stages; a profile of an earlier llmprof has that
// of all kernel time.
std::optional<profile::Share> covered_share(const profile::Profile& profile);

// Not where stages are forward passes of a model that is not recognized as an LLM.
bool has_tokens(const profile::Profile& profile);
// "confidence high, 95 %": of detected stages; empty of others.
std::string confidence_words(const profile::Profile& profile);
// "Stages are guessed from the kernel sequence (confidence high, 95 %). "; of a model that is no
// LLM that it is not taken for one. Empty where stages were not detected.
std::string guess_sentence(const profile::Profile& profile);

// What one instance of a stage is called: "prefill"; under continuous batching "engine step".
std::string instance_name(const profile::Profile& profile, std::string_view stage);
// The steps of a stage: "8", or "4 of 8 traced"; "-" for prefills of one pass each, which is no
// step count.
Cell step_count_cell(const profile::Stage& stage);
// What is shown of token times; empty of a profile that analysis/shown has not completed.
const profile::TokenTimesShown& shown_tokens(const profile::Profile& profile);
// "the whole capture", or "the selection".
std::string_view scope_words(const profile::Profile& profile);

// What runs at a time, as far as it is known.
struct TokenCount {
  std::string_view what;
  std::optional<uint64_t> value;
  std::string source;  // "--batch", "assumed"; empty where that is not known
};
std::vector<TokenCount> token_counts(const profile::Workload& workload);

// The least time that a stage could take; none where what limits it is not known.
std::optional<profile::Milliseconds> known_floor(const profile::Stage& stage);
std::string bound_words(const profile::Stage& stage);  // "memory", "compute", or "-"

// The stage's largest part that is not idle time, and the largest that is; null where there is
// none.
const profile::BudgetPart* largest_part(const profile::Stage& stage, bool idle);

// The largest opportunity: the first finding whose saving is known; null where there is none.
const profile::Finding* first_gain(const profile::Profile& profile);
// per_unit of all findings; empty where they differ or there are none.
std::string per_unit(const profile::Profile& profile);

// ---- times without tracing: tracing_words.cpp

// Of each stage the unwatched times are known.
bool all_unwatched(const profile::Profile& profile);

// Of any stage.
bool any_unwatched(const profile::Profile& profile);

// What tracing added to the stage is not known, and is in its times.
bool includes_tracing(const profile::Profile& profile, const profile::Stage& stage);

// Whose times the report shows, how they were obtained, and what tracing added, or that this is not
// known; empty without stages.
std::string times_words(const profile::Profile& profile);

// The same for the budget of one stage: what of it is recorded, and what scaled.
std::string budget_basis_words(const profile::Stage& stage);

// One sentence or two for each stage that statistics leave instances out of: which, how long, why.
// Not of an engine's steps.
std::vector<std::string> left_out_words(const profile::Profile& profile);

// Where a stage's mean misleads: the program's own clock may count a warm-up, or all that was
// recorded is a cold start. Empty where neither is so.
std::string mean_caveats(const profile::Profile& profile);

// ---- token times

// What a user of the model waits for (token_times.shown.figures), in words.
struct TokenFigureWords {
  std::string name;  // "time to first token", "time per output token"
  std::string text;  // in ms: "6.000", "8.615 to 52.928"
  std::string of;    // "mean of 3 prefills"
};
TokenFigureWords token_figure_words(const profile::Profile& profile,
                                    const profile::TokenFigure& figure);

// The window of recording in which an engine's requests got the most tokens; null where what they
// saw is not known.
const profile::ServedWindow* shown_window(const profile::Profile& profile);

// What an engine's requests saw, in a sentence; empty where it is not known.
std::string served_words(const profile::Profile& profile);

// ---- the engine: capture_sections.cpp

// "llama.cpp, CUDA graphs replay 99.2 % of its kernels (confidence 99 %)"; "not recognized".
std::string engine_words(const profile::Profile& profile);

// Whether PyTorch recorded any of it.
bool is_pytorch_trace(const profile::Profile& profile);

// Whether the input has kernels, none of them of a framework, and no framework recorded it: reports
// then do not speak of one.
bool without_framework(const profile::Profile& profile);
inline constexpr std::string_view kNoFramework =
    "this input contains no framework operators or kernels";

// ---- where kernels' figures come from

// Whether a kernel's place in the roofline is of samples of the GPU's counters.
inline bool is_by_counters(const profile::RooflineKernel& kernel) {
  return kernel.source == profile::RooflineSource::counters;
}

// Counters say nothing of units other than the tensor cores, and so nothing of latency.
inline bool latency_is_known(const profile::Roofline& roofline) {
  return !std::all_of(roofline.kernels.begin(), roofline.kernels.end(), is_by_counters);
}

// ---- damage: capture_sections.cpp

// Whether a part of an input could not be read, so that what is missing may have been in it.
bool is_damaged(const profile::Profile& profile);

// What could not be read, as the first that a report says; nothing where all could.
void add_damage(const profile::Profile& profile, Document& document);

// Whether that says it already.
bool is_damage(const profile::Profile& profile, const profile::Diagnostic& diagnostic);

// ---- kernels by the time that reports rank them by: kernel_sections.cpp

// A kernel with the time that reports rank it by.
struct RankedKernel : profile::MeasuredTime {
  const profile::Kernel* kernel = nullptr;
};

// Whether kernels are ranked by their time in the stages, warm-up excluded.
bool ranks_measured_kernels(const profile::Profile& profile);

// Longest first: those of the measured stages, or all where there are no stages.
std::vector<RankedKernel> ranked_kernels(const profile::Profile& profile);

// What shares are of: "the measured stages' kernel time", "kernel time".
std::string_view ranked_time_words(const profile::Profile& profile);

// ---- what is missing: reasons.cpp

// Of a job, in place of what is found from single events.
inline constexpr std::string_view kOfSingleRanks =
    "Reported for single ranks: analyze the capture of one rank alone.";

// Why something is missing in this input, and what would record it, as clauses.
std::string why_no_stages(const profile::Profile& profile);
// The same in short, for sections that need stages.
std::string why_no_stage_figures(const profile::Profile& profile);
// Empty where the timeline of a GPU was analyzed.
std::string why_no_device_time(const profile::Profile& profile);
std::string why_no_steps(const profile::Profile& profile);
std::string why_no_layers(const profile::Profile& profile);
std::string why_no_utilization(const profile::Profile& profile);
std::string why_no_kernel_bounds(const profile::Profile& profile);
std::string why_no_operators(const profile::Profile& profile);
std::string why_no_findings(const profile::Profile& profile);
// That a PyTorch trace was recorded without the GPU's activities; empty where it was not.
std::string cpu_only_words(const profile::Profile& profile);
// That there are no stages, and why, as a sentence.
std::string no_stages_words(const profile::Profile& profile);

// ---- the ranks of a job: job_sections.cpp

// The job in one line, then what is missing of it; empty where there is no job.
std::vector<std::string> job_sentences(const profile::Profile& profile);
// "Other ranks wait for rank 1 in decode, 0.8000 ms per step (30.3 % of it): ..."; empty where
// nobody waits for one rank.
std::string straggler_sentence(const profile::Profile& profile);

}  // namespace llmprof::report
