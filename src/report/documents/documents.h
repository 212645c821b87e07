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
#include "report/sections/sections.h"

// The documents of a profile, and the parts that they share.
namespace llmprof::report {

// ---- reports

// report.md: everything in the profile, for performance engineers, answers first.
Document stage2_document(const Profile& profile);
Result<void> write_stage2_report(const Profile& profile, const std::filesystem::path& path);

// Writes report.md, stakeholder_summary.md, kernels.md (its `top` longest rows), operators.md and
// their plots into an existing folder. Returns their names.
inline constexpr size_t kAllKernels = std::numeric_limits<size_t>::max();
Result<std::vector<std::string>> write_markdown_reports(const Profile& profile,
                                                        const std::filesystem::path& folder,
                                                        size_t top = kAllKernels);

struct WrittenReports {
  std::vector<std::string> files;  // names in the folder
  std::string json;                // the content of profile.json
};

// Also writes profile.json.
Result<WrittenReports> write_reports(const Profile& profile, const std::filesystem::path& folder,
                                     size_t top = kAllKernels);

// ---- stakeholder_summary

// One line of the summary's aggregates: what the workload measured by itself, unprofiled, next to
// what this capture shows. A side that does not know it has a figure without a value.
struct AggregateRow {
  std::string metric;
  Cell unprofiled;
  Cell captured;
  Cell captured_over_unprofiled;
};

// Named as in the seed.
std::vector<AggregateRow> map_stage1_metrics_to_stats(const Profile& profile);

struct StageTakeaway {
  std::string stage;
  std::string message;
};
// What each stage's numbers mean, in a sentence or two, by fixed rules.
std::vector<StageTakeaway> heuristic_msgs(const Profile& profile);

// Three to five sentences, using only numbers from the summary's tables.
std::vector<Sentence> executive_summary(const Profile& profile);

// stakeholder_summary.md: Executive Summary, Environment, Aggregates, Per-Stage Timings, MFU, Stage
// Takeaways, Top Operators, Top Kernels, Recommendations; always all nine, in this order.
Document stakeholder_document(const Profile& profile);
Result<void> write_stakeholder_summary(const Profile& profile, const std::filesystem::path& path);

// ---- kernel_report

// The n kernels with the longest total, longest first.
std::span<const Kernel> top_n_kernels(const Profile& profile, size_t n);

// kernels.md: the ranking with the columns kernel_name, total_ms, calls, mean_ms, device, share,
// class, short_name; then the same by class, and caveats about the capture.
Document kernel_document(const Profile& profile, size_t top = kAllKernels);
Result<void> write_kernel_markdown(const Profile& profile, const std::filesystem::path& path,
                                   size_t top = kAllKernels);

// Sentences that the overview on the terminal also has.
// The number of kernels, their time and their devices.
std::string kernel_totals_sentence(const Profile& profile);
// How the launches that a kernel profiler measured fit the timeline; empty if there are none.
std::string metric_join_sentence(const Profile& profile);
// What a table of the `shown` longest kernels omits; empty if nothing. Shares are of `time`.
std::string other_kernels_sentence(const std::vector<RankedKernel>& kernels, size_t shown,
                                   std::string_view time);

// operators.md: name, calls, cpu_total_ms, cpu_self_ms, cuda_total_ms, cuda_self_ms, mean_ms, by
// GPU time; or why there are none.
Document operator_document(const Profile& profile);
Result<void> write_operator_markdown(const Profile& profile, const std::filesystem::path& path);

// ---- overview

// The short version of a profile, for the terminal: stages, the `top` longest kernels, what to fix
// first, and caveats about the input.
Document kernel_overview(const Profile& profile, size_t top);
// Adds a line per stage, with its largest parts.
void add_stage_overview(const Profile& profile, Document& document);

// ---- page_overview

// How well stages use the hardware, with these titles: name, MFU and MBU, each on wall and on busy
// time, bound, lower bound.
Table use_table(std::string_view titles, const Profile& profile);

// "Qwen2.5-7B on NVIDIA H200": what ran, as far as known.
std::string page_title(const Profile& profile);

// The overview of report.html, also visible without JavaScript: what ran, on what and how fast,
// where the time goes, what to do about it, and how far to trust it. Takes the profile as recorded.
Document page_overview(const Profile& recorded);

// "rank3-4711.llmtrace (llmprof log, llmprof collector 0.1.0, rank 3)"
std::string capture_words(const Capture& capture);
// All captures of a profile, as a sentence.
std::string captures_sentence(const Profile& profile);

// ---- headlines

// A key figure: a tile of report.html.
struct Headline {
  struct Beside {
    std::string words;  // "traced", "not profiled", "of all sequences"
    std::string text;   // "27.507 ms"
    std::optional<double> exact;
  };
  std::string name;             // "time to first token"
  std::string text;             // "13.966", "0.800 to 15.200", "up to 1.200"
  std::optional<double> exact;  // as in profile.json; the mean if `text` is a range
  std::string unit;             // "ms", "tokens/s"; empty if the text includes it
  std::string of;               // "mean of 3 prefills, without tracing"
  std::optional<Beside> beside;
};

std::vector<Headline> headlines(const Profile& profile);

// ---- word

// Fills in the texts of profile.json: analysis decides, only report/ words.
void word(Profile& profile);

}  // namespace llmprof::report
