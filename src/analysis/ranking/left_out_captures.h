#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// Keeps the rows of a table that are marked.
template <class Table>
void keep_rows(Table& table, const std::vector<bool>& rows) {
  const auto keep_column = [&](auto& column) {
    if (column.empty()) return;
    size_t kept = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]) column[kept++] = column[i];
    }
    column.resize(kept);
  };
  std::apply([&](auto&... column) { (keep_column(column), ...); }, table.columns());
}

struct LeftOutWork {
  uint64_t kernels = 0;
};

// Takes the kernels, memory operations and graph replays of the marked captures out, and their
// queues, which would count as timelines of their own.
LeftOutWork leave_out_gpu_work(trace::Trace& trace, const std::vector<bool>& captures);

}  // namespace llmprof::analysis
