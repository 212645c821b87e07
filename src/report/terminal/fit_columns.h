#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace llmprof::report {

// What a column of a table asks for, in columns of the terminal.
struct ColumnNeed {
  size_t natural = 0;   // all of its cells in full
  size_t smallest = 0;  // below this it cannot be read; a number's is its natural width
  int priority = 0;     // columns with the lowest are left out first; of equals the last
};

struct FittedColumn {
  size_t index = 0;  // among the needs
  size_t width = 0;
};

struct FittedTable {
  std::vector<FittedColumn> shown;  // in the order of the needs; at least one where there are any
  std::vector<size_t> left_out;     // in the order of the needs
};

// Fits columns, each with `gap` blanks before it, into `width` columns (0: no limit). First wide
// columns shrink, then columns are left out. One column is shown whatever the width.
FittedTable fit_columns(std::span<const ColumnNeed> needs, size_t gap, size_t width);

}  // namespace llmprof::report
