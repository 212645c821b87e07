#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/collector_log/records.h"
#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::readers::collector_log {

// What the parts of a log share while it is read.
struct LogReading {
  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  Texts& texts_;
};

// Calls `settle(row)` to complete the rows from `first` on, and removes those that it rejects.
template <class Table, class Settle>
void settle_rows(Table& table, size_t first, const Settle& settle) {
  size_t kept = first;
  for (size_t i = first; i < table.size(); ++i) {
    if (!settle(i)) continue;
    if (kept < i) {
      trace::each_column(table, [&](auto& column) {
        if (i < column.size()) column[kept] = column[i];
      });
    }
    ++kept;
  }
  trace::each_column(table, [&](auto& column) {
    if (column.size() > kept) column.resize(kept);
  });
}

// Of the rows from `first` on.
inline uint32_t largest_from(const std::vector<uint32_t>& values, size_t first) {
  uint32_t largest = 0;
  for (size_t i = first; i < values.size(); ++i) largest = std::max(largest, values[i]);
  return largest;
}

// Appends rows [first, end) of one column to another.
template <class Value>
void append(const std::vector<Value>& from, size_t first, size_t end, std::vector<Value>& to) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
            from.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace llmprof::readers::collector_log
