#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "profile/profile.h"
#include "report/document.h"

// The documents made of a profile, and what several of them say.
namespace llmprof::report {

// ---- reports

// report.md: for the performance engineer, everything that the profile tells, the answers first.
Document stage2_document(const profile::Profile& profile);
Result<void> write_stage2_report(const profile::Profile& profile,
                                 const std::filesystem::path& path);

// Writes report.md, stakeholder_summary.md, kernels.md (its `top` longest rows), operators.md and
// the plots that they show into a folder that exists. Returns their names.
inline constexpr size_t kAllKernels = std::numeric_limits<size_t>::max();
Result<std::vector<std::string>> write_markdown_reports(const profile::Profile& profile,
                                                        const std::filesystem::path& folder,
                                                        size_t top = kAllKernels);

struct WrittenReports {
  std::vector<std::string> files;  // names in the folder
  std::string json;                // what profile.json holds
};

// The same, and profile.json.
Result<WrittenReports> write_reports(const profile::Profile& profile,
                                     const std::filesystem::path& folder, size_t top = kAllKernels);

// ---- stakeholder_summary

// One line of the summary's aggregates: what the workload measured by itself, unprofiled, beside
// what this capture shows. A figure without a value where one side does not know.
struct AggregateRow {
  std::string metric;
  Cell unprofiled;
  Cell captured;
  Cell captured_over_unprofiled;
};

// The seed's names for what a summary is made of.
std::vector<AggregateRow> map_stage1_metrics_to_stats(const profile::Profile& profile);

struct StageTakeaway {
  std::string stage;
  std::string message;
};
// What each stage's numbers mean, in a sentence or two, by fixed rules.
std::vector<StageTakeaway> heuristic_msgs(const profile::Profile& profile);

// Three to five sentences, made only of numbers that stand in the summary's tables.
std::vector<std::string> executive_sentences(const profile::Profile& profile);

// stakeholder_summary.md: Executive Summary, Environment, Aggregates, Per-Stage Timings, MFU, Stage
// Takeaways, Top Operators, Top Kernels, Recommendations; always all nine, in this order.
Document stakeholder_document(const profile::Profile& profile);
Result<void> write_stakeholder_summary(const profile::Profile& profile,
                                       const std::filesystem::path& path);

// ---- kernel_report

// The n kernels with the longest total, longest first.
std::span<const profile::Kernel> top_n_kernels(const profile::Profile& profile, size_t n);

// kernels.md: the ranking with the columns kernel_name, total_ms, calls, mean_ms, device, share,
// class, short_name; then the same by class, and what the reader must know about the capture.
Document kernel_document(const profile::Profile& profile, size_t top = kAllKernels);
Result<void> write_kernel_markdown(const profile::Profile& profile,
                                   const std::filesystem::path& path, size_t top = kAllKernels);

// Shared with the overview on the terminal, as sentences.
// How many kernels, how much time, on what.
std::string kernel_totals_sentence(const profile::Profile& profile);
// How the launches that a kernel profiler measured fit the timeline; empty where there are none.
std::string metric_join_sentence(const profile::Profile& profile);
// What a table of the `shown` longest kernels leaves out; empty where that is nothing.
std::string other_kernels_sentence(const profile::Profile& profile, size_t shown);

// operators.md: name, calls, cpu_total_ms, cpu_self_ms, cuda_total_ms, cuda_self_ms, mean_ms, by
// GPU time; or why there are none.
Document operator_document(const profile::Profile& profile);
Result<void> write_operator_markdown(const profile::Profile& profile,
                                     const std::filesystem::path& path);

// ---- overview

// The short version of a profile, for the terminal: stages, the `top` longest kernels, what to fix
// first, and what the reader must know about the input.
Document kernel_overview(const profile::Profile& profile, size_t top);
// Its line per stage, with the largest parts.
void add_stage_overview(const profile::Profile& profile, Document& document);

// ---- page_overview

// The stages' use of the hardware, with these titles: name, MFU and MBU, each on wall and on busy
// time, bound, lower bound.
Table use_table(std::string_view titles, const profile::Profile& profile);

// "Qwen2.5-7B on NVIDIA H200": what ran, as far as it is known.
std::string page_title(const profile::Profile& profile);

// The overview of report.html, which its reader also sees without JavaScript: what ran, on what and
// how fast, where the time goes, what to do about it, and how far to trust it. The profile is as
// recorded.
Document page_overview(const profile::Profile& recorded);

// "rank3-4711.llmtrace (llmprof log, llmprof collector 0.1.0, rank 3)"
std::string capture_words(const profile::Capture& capture);
// All captures of a profile, as a sentence.
std::string captures_sentence(const profile::Profile& profile);

// ---- headlines

// A figure that a reader sees first: a tile of report.html.
struct Headline {
  struct Beside {
    std::string words;  // "traced", "not profiled", "of all sequences"
    std::string text;   // "27.507 ms"
    std::optional<double> exact;
  };
  std::string name;             // "time to first token"
  std::string text;             // "13.966", "0.800 to 15.200", "up to 1.200"
  std::optional<double> exact;  // as profile.json has it; of a range the mean
  std::string unit;             // "ms", "tokens/s"; empty where the text has it
  std::string of;               // "mean of 3 prefills, without tracing"
  std::optional<Beside> beside;
};

std::vector<Headline> headlines(const profile::Profile& profile);

// ---- word

// Puts into a profile what profile.json says in words: analysis decides, only report/ words.
void word(profile::Profile& profile);

}  // namespace llmprof::report
