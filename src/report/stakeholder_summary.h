#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/profile.h"
#include "base/error.h"
#include "report/document.h"
#include "report/sections/sections.h"

namespace llmprof::report {

// One line of the summary's aggregates: what the workload measured by itself, unprofiled (Stage 1),
// beside what this capture shows. Texts as printed; "-" where one side does not know.
struct AggregateRow {
  std::string metric;
  std::string stage1;
  std::string captured;
  std::string captured_over_stage1;
};

// The seed's names for what a summary is made of.
std::vector<AggregateRow> map_stage1_metrics_to_stats(const Reported& reported);

struct StageTakeaway {
  std::string stage;
  std::string message;
};
// What each stage's numbers mean, in a sentence or two, by fixed rules.
std::vector<StageTakeaway> heuristic_msgs(const Reported& reported);

// Three to five sentences, made only of numbers that stand in the summary's tables.
std::vector<std::string> executive_sentences(const Reported& reported);

// stakeholder_summary.md: Executive Summary, Environment, Aggregates, Per-Stage Timings, MFU, Stage
// Takeaways, Top Operators, Top Kernels, Recommendations; always all nine, in this order.
Document stakeholder_document(const analysis::Profile& profile);
Result<void> write_stakeholder_summary(const analysis::Profile& profile,
                                       const std::filesystem::path& path);

}  // namespace llmprof::report
