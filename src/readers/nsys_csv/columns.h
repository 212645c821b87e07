#pragma once

#include <string_view>
#include <vector>

#include "readers/nsys_csv/report.h"

namespace llmprof::readers::nsys_csv {

// What the spelling of a header tells beyond the meaning of its columns.
struct HeaderColumns {
  bool counts_calls = false;       // "Num Calls", where kernels have "Instances"
  bool counts_operations = false;  // "Operations", until 2021
  bool memory_sizes = false;       // "Total (MB)" with an operation
  bool queue_count = false;        // "QCount"
};

// Finds the columns by name, whatever their order, blanks, case and unit, and fills the layout's
// width, positions and units. Unknown columns are passed over; of two alike the first counts.
HeaderColumns find_columns(const std::vector<std::string_view>& fields, ReportLayout& layout);

// How nsys spells the column today, for messages.
std::string_view current_spelling(Column column);

}  // namespace llmprof::readers::nsys_csv
