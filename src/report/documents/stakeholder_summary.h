#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

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

}  // namespace llmprof::report
