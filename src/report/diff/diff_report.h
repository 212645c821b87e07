#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compare/model/diff.h"
#include "compare/spread/spread.h"
#include "report/document.h"

namespace llmprof::report {

// "eager against graph": the last parts of the sides' paths that tell them apart.
std::string diff_title(const compare::Diff& diff);

// "Verdict: pass. Every gate rule holds."
std::string verdict_words(const compare::Diff& diff);

// diff.md: all of it.
Document diff_report(const compare::Diff& diff);

// What report.html shows without JavaScript: all but the kernels that matter least.
Document diff_page_overview(const compare::Diff& diff);

// What the terminal shows.
Document diff_overview(const compare::Diff& diff);

// Markdown for a pull request, which forges cut off beyond a length: rows are left out until it
// is below `most` characters.
inline constexpr size_t kLongestSummary = 60'000;
std::string diff_summary(const compare::Diff& diff, size_t most = kLongestSummary);

// How far the runs of `llmprof run --repeat` differ: a table, and what change they could show.
Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu);

// JUnit XML: a test case per gate rule and stage, and one for comparability.
std::string diff_junit(const compare::Diff& diff);

}  // namespace llmprof::report
