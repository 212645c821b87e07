#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "report/document.h"
#include "report/format/words.h"

// The sections of report.md, and the words and tables that they share with other documents.
namespace llmprof::report {

// The sections of report.md. Each adds its heading and its content, or one sentence on what is
// missing in this input and the command that would record it.
void add_section(Topic<"captures">, const Profile&, Document&);
// The engine that runs the model, and how it was recognized; nothing for a CPU's operators.
void add_section(Topic<"engine">, const Profile&, Document&);
void add_section(Topic<"key figures">, const Profile&, Document&);
// Ranks, their waits and collectives, and how their clocks were aligned; nothing without a job.
void add_section(Topic<"job">, const Profile&, Document&);
void add_section(Topic<"stages">, const Profile&, Document&);
// Requests of a client; nothing without them, unless an engine served some.
void add_section(Topic<"requests">, const Profile&, Document&);
// What GPU memory is used for; nothing if it was not recorded.
void add_section(Topic<"memory ledger">, const Profile&, Document&);
// GPU memory inside PyTorch; nothing without a memory snapshot.
void add_section(Topic<"memory">, const Profile&, Document&);
void add_section(Topic<"token times">, const Profile&, Document&);
void add_section(Topic<"utilization">, const Profile&, Document&);
void add_section(Topic<"time budget">, const Profile&, Document&);
void add_section(Topic<"idle gaps">, const Profile&, Document&);
void add_section(Topic<"slow steps">, const Profile&, Document&);
void add_section(Topic<"device time">, const Profile&, Document&);
void add_section(Topic<"copies">, const Profile&, Document&);
void add_section(Topic<"launches">, const Profile&, Document&);
void add_section(Topic<"layers">, const Profile&, Document&);
void add_section(Topic<"kernels">, const Profile&, Document&);
void add_section(Topic<"roofline">, const Profile&, Document&);
// Matrix products by their dimensions and roles.
void add_section(Topic<"products">, const Profile&, Document&);
void add_section(Topic<"potential savings">, const Profile&, Document&);
void add_section(Topic<"findings">, const Profile&, Document&);
void add_section(Topic<"operators">, const Profile&, Document&);
void add_section(Topic<"diagnostics">, const Profile&, Document&);
// Values of the GPU's own counters and sensors, after MFU and MBU; nothing if they were off.
void add_section(Topic<"measured">, const Profile&, Document&);
// Which figures cover only traced steps; nothing if everything was traced.
void add_tracing_notes(const Profile& profile, Document& document);
// Nothing if overhead was not measured.
void add_section(Topic<"overhead">, const Profile&, Document&);
void add_section(Topic<"failed captures">, const Profile&, Document&);
// The selection, as a note at the top of a report; nothing without one.
void add_selection(const Profile& profile, Document& document);

// Sentences that other documents also have; empty if there is nothing to report.
// The largest overhead of a recording.
std::string overhead_words(const Profile& profile);
// What tracing cost per step as the run itself measured it, or why that is unknown.
std::string collector_overhead_words(const Profile& profile);
// "cuda:0 is busy 44.8 % of 1,880.900 ms: compute 44.800 ms, ..."
std::string device_time_words(const Profile& profile);
// "decode moves 12.50 GB per instance to and from memory, ..."
std::string measured_words(const Profile& profile);
std::string coverage_sentence(const Profile& profile);
// One for each capture that failed.
std::vector<std::string> failure_sentences(const Profile& profile);
// Says that kernels inside CUDA graphs are missing, how much that is, and what would show them.
std::string hidden_graphs_sentence(const Profile& profile);
// How much of the GPU's work has an operator, and why the rest has none.
std::string operator_coverage_words(const Profile& profile);
// "message [3 times]"
std::string message_words(const Diagnostic& diagnostic);
// "warning (code): message [3 times]"
BulletList diagnostic_list(const Profile& profile);

Table operator_table(const Profile& profile, size_t rows);
// The longest kernels by grid and block; only matrix products if `products`.
Table shape_table(const Profile& profile, size_t kernels, bool products);

// ---- stages, and times without tracing: stage_words.cpp

// The device that all kernels of this profile ran on.
bool on_cpu(const Profile& profile);
std::string_view device_word(const Profile& profile);  // "GPU", "CPU"

// Whether instances are an engine's steps (continuous batching).
bool is_serving(const Profile& profile);

// Whether any stage decodes step by step.
bool has_decode_steps(const Profile& profile);

// The share of kernel time inside stages; null without stages.
std::optional<Share> covered_share(const Profile& profile);

// False if stages are forward passes of a model that is not recognized as an LLM.
bool has_tokens(const Profile& profile);
// "confidence high, 95 %" for detected stages, otherwise empty.
std::string confidence_words(const Profile& profile);
// "Stages are guessed from the kernel sequence (confidence high, 95 %). "; if the model is not
// recognized as an LLM, says so. Empty if stages were not detected.
std::string guess_sentence(const Profile& profile);

// The name of one instance of a stage: "prefill"; under continuous batching "engine step".
std::string instance_name(const Profile& profile, std::string_view stage);
// The steps of a stage: "8", or "4 of 8 traced"; "-" for prefills of one pass each.
Cell step_count_cell(const Stage& stage);
// The token times to show; empty for a profile that analysis/shown has not completed.
const TokenTimesShown& shown_tokens(const Profile& profile);
// "the whole capture", or "the selection".
std::string_view scope_words(const Profile& profile);

// The number of sequences or tokens, as far as known.
struct TokenCount {
  std::string_view what;
  std::optional<uint64_t> value;
  std::string source;  // "--batch", "assumed"; empty if unknown
};
std::vector<TokenCount> token_counts(const Workload& workload);

std::string bound_words(const Stage& stage);  // "memory", "compute", or "-"

// The stage's largest idle part, or its largest other part; null if there is none.
const BudgetPart* largest_part(const Stage& stage, bool idle);

// The largest opportunity: the first finding with a known saving; null if there is none.
const Finding* first_gain(const Profile& profile);
// per_unit of all findings; empty if they differ or there are none.
std::string per_unit(const Profile& profile);

// Whether untraced times are known for every stage.
bool all_untraced(const Profile& profile);

// Whether they are known for any stage.
bool any_untraced_times(const Profile& profile);

// Whether the stage's times include an unknown tracing overhead.
bool includes_tracing(const Profile& profile, const Stage& stage);

// Whose times the report shows, how they were obtained, and what tracing added, or that this is
// unknown; empty without stages.
std::string times_words(const Profile& profile);

// The same for the budget of one stage: which parts are recorded, and which scaled.
std::string budget_basis_words(const Stage& stage);

// One or two sentences for each stage with instances excluded from statistics: which, how long,
// why. Not for an engine's steps.
std::vector<std::string> left_out_words(const Profile& profile);

// Why a stage's mean may mislead: the program's own clock may count a warm-up, or only a cold start
// was recorded. Empty if neither applies.
std::string mean_caveats(const Profile& profile);

// ---- token times

// What users of the model wait for (token_times.shown.figures), in words.
struct TokenFigureWords {
  std::string name;  // "time to first token", "time per output token"
  std::string text;  // in ms: "6.000", "8.615 to 52.928"
  std::string of;    // "mean of 3 prefills"
};
TokenFigureWords token_figure_words(const Profile& profile, const TokenFigure& figure);

// The recording window in which an engine's requests got the most tokens; null if request times are
// unknown.
const ServedWindow* shown_window(const Profile& profile);

// Times that an engine's requests saw, in a sentence; empty if unknown.
std::string served_words(const Profile& profile);

// ---- requests of a client: request_sections.cpp

// The headline figures with their goodput; empty without requests.
std::string requests_sentence(const Profile& profile);
// Says if the server could not keep up; otherwise empty.
std::string load_sentence(const Profile& profile);
// Files of requests and nothing else were analyzed.
bool has_only_requests(const Profile& profile);
// What makes the slowest tokens slow, or why that is unknown.
std::string slow_requests_sentence(const Profile& profile);

// ---- GPU memory: memory_section.cpp

// What PyTorch holds on the GPU that holds most, and why an allocation failed; empty without a
// memory snapshot.
std::string memory_sentence(const Profile& profile);
// Why an allocation failed, and what would make it fit.
std::string failure_sentence(const OutOfMemory& row);
// What PyTorch's memory is used for; of a moment of the ledger, what is inside PyTorch's rows; what
// the engine states: memory_contents_section.cpp
void add_memory_contents(const Memory& memory, Document& document);
void add_ledger_contents(const profile::MemoryLedger& ledger, size_t moment, Document& document);
void add_memory_statements(const Profile& profile, Document& document);
// How much of the GPU's memory is KV cache, and how much of it was used; empty if not known.
std::string cache_sentence(const Profile& profile);
// Memory snapshots and nothing else were analyzed.
bool has_only_memory(const Profile& profile);

// ---- the engine: capture_sections.cpp

// "llama.cpp, CUDA graphs replay 99.2 % of its kernels (confidence 99 %)"; "not recognized".
std::string engine_words(const Profile& profile);

// Whether PyTorch recorded any of the captures.
bool is_pytorch_trace(const Profile& profile);

// Whether the input has kernels but none from a framework, and no framework recorded it: reports
// then do not mention one.
bool without_framework(const Profile& profile);
inline constexpr std::string_view kNoFramework =
    "this input contains no framework operators or kernels";

// ---- where kernels' figures come from

// Whether a kernel's place in the roofline is from samples of the GPU's counters.
inline bool is_by_counters(const RooflineKernel& kernel) {
  return kernel.source == RooflineSource::counters;
}

// Of the compute units, counters cover only tensor cores, so they cannot show latency.
inline bool latency_is_known(const Roofline& roofline) {
  return !std::all_of(roofline.kernels.begin(), roofline.kernels.end(), is_by_counters);
}

// ---- damage: capture_sections.cpp

// Whether a part of an input could not be read, so that missing data may have been in it.
bool is_damaged(const Profile& profile);

// Says first in a report what could not be read; nothing if all could.
void add_damage(const Profile& profile, Document& document);

// Whether add_damage already reports this diagnostic.
bool is_damage(const Profile& profile, const Diagnostic& diagnostic);

// ---- kernels by the time that reports rank them by: kernel_sections.cpp

// The first kernel with that full name; null if there is none.
const Kernel* find_kernel(const Profile& profile, std::string_view kernel_name);

// A kernel with the time that reports rank it by.
struct RankedKernel : MeasuredTime {
  const Kernel* kernel = nullptr;
};

// Whether kernels are ranked by their time in the stages, warm-up excluded.
bool ranks_measured_kernels(const Profile& profile);

// Longest first: kernels of the measured stages, or all.
std::vector<RankedKernel> ranked_kernels(const Profile& profile, bool measured);
inline std::vector<RankedKernel> ranked_kernels(const Profile& profile) {
  return ranked_kernels(profile, ranks_measured_kernels(profile));
}

// The denominator of shares: "the measured stages' kernel time", "kernel time".
std::string_view ranked_time_words(const Profile& profile);

// ---- what is missing: reasons.cpp

// For a job, instead of what needs single events.
inline constexpr std::string_view kOfSingleRanks =
    "Reported for single ranks: analyze the capture of one rank alone.";
inline std::string of_single_ranks(const Profile& profile, std::string otherwise) {
  return profile.job ? std::string(kOfSingleRanks) : std::move(otherwise);
}

// Why something is missing in this input, and what would record it, as clauses.
std::string why_no_stages(const Profile& profile);
// A short version for sections that need stages.
std::string why_no_stage_figures(const Profile& profile);
// Empty if the timeline of a GPU was analyzed.
std::string why_no_device_time(const Profile& profile);
std::string why_no_steps(const Profile& profile);
std::string why_no_layers(const Profile& profile);
std::string why_no_utilization(const Profile& profile);
std::string why_no_kernel_bounds(const Profile& profile);
std::string why_no_operators(const Profile& profile);
std::string why_no_findings(const Profile& profile);
// Says that a PyTorch trace was recorded without GPU activities; empty if not.
std::string cpu_only_words(const Profile& profile);
// Says that there are no stages, and why, as a sentence.
std::string no_stages_words(const Profile& profile);

// ---- the ranks of a job: job_sections.cpp

// The job in one line, then what is missing from it; empty without a job.
std::vector<Sentence> job_summary(const Profile& profile);
// "Other ranks wait for rank 1 in decode, 0.8000 ms per step (30.3 % of it): ..."; empty without a
// straggler.
std::string straggler_sentence(const Profile& profile);
// The heat map in words: "7 ranks by 64 steps. Rank 5's own time is 29.9 % above the median rank's
// on average."
std::string heat_sentence(const Heat& heat);

}  // namespace llmprof::report
