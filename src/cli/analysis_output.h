#pragma once

#include <cstddef>

#include "report/terminal/style.h"
#include "session/analysis/analyze.h"

namespace llmprof::cli {

// Rows of the kernel table where nobody said how many.
inline constexpr size_t kTerminalRows = 20;

// What `analyze` and `run` print on stdout: the overview and where the bundle is, or profile.json.
void print_analysis(const session::Analysis& analysis, size_t kernel_rows, bool json,
                    const report::TerminalStyle& style);

// Where report.html is, on stdout, or why it was left out, on stderr.
void print_page(const session::PageOutcome& page);

// The table of --timings, on stderr.
void print_timings(const std::vector<session::PartTiming>& parts);

}  // namespace llmprof::cli
