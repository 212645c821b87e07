#pragma once

#include <cstddef>
#include <string>

#include "compare/model/diff.h"
#include "report/document.h"

namespace llmprof::report {

// diff.md: all of it.
Document diff_report(const compare::Diff& diff);

// What the terminal shows.
Document diff_overview(const compare::Diff& diff);

// Markdown for a pull request, which forges cut off beyond a length: rows are left out until it
// is below `most` characters.
inline constexpr size_t kLongestSummary = 60'000;
std::string diff_summary(const compare::Diff& diff, size_t most = kLongestSummary);

// JUnit XML: a test case per gate rule and stage, and one for comparability.
std::string diff_junit(const compare::Diff& diff);

}  // namespace llmprof::report
