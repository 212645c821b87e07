#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compare/model/diff.h"
#include "compare/spread/spread.h"
#include "report/document.h"

namespace llmprof::report {

// "eager against graph": the last parts of the sides' paths that distinguish them.
std::string diff_title(const compare::Diff& diff);

// "Verdict: pass. Every gate rule holds."
std::string verdict_words(const compare::Diff& diff);

// diff.md: the complete comparison.
Document diff_report(const compare::Diff& diff);

// What report.html shows without JavaScript: everything except the least important kernels.
Document diff_page_overview(const compare::Diff& diff);

// What the terminal shows.
Document diff_overview(const compare::Diff& diff);

// Markdown for a pull request. Forges truncate long comments: rows are dropped until it has fewer
// than `most` characters.
inline constexpr size_t kLongestSummary = 60'000;
std::string diff_summary(const compare::Diff& diff, size_t most = kLongestSummary);

// How much the runs of `llmprof run --repeat` differ: a table, and the smallest change they could
// show.
Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu);

// JUnit XML: a test case per gate rule and stage, and one for comparability.
std::string diff_junit(const compare::Diff& diff);

}  // namespace llmprof::report
