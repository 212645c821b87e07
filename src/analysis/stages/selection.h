#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/stages/stages.h"
#include "base/error.h"
#include "profile/context.h"

namespace llmprof::analysis {

// The unit of figures per instance of a stage: "request", "engine step"; "decode" if this stage is
// selected, "8 steps" if steps are.
std::string instance_unit(const Stages& stages, const profile::Selection& selection,
                          uint32_t stage);

// "4:12", "4:", ":12", "7". Errors are of kind usage.
Result<profile::StepRange> parse_step_range(std::string_view text);

// Keeps the marked rows of a column, or of all columns of a table.
template <class Column>
void keep_marked(Column& column, const std::vector<bool>& keep) {
  if (column.empty()) return;
  size_t kept = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) column[kept++] = column[i];
  }
  column.resize(kept);
}
template <class Table>
void keep_rows(Table& table, const std::vector<bool>& keep) {
  std::apply([&](auto&... column) { (keep_marked(column, keep), ...); }, table.columns());
}

// Removes kernels, memory operations and graph replays of other devices from a trace.
Result<void> keep_device(trace::Trace& trace, uint32_t ordinal);

// Removes all GPU work outside the selected stage and steps from both. An instance reduced to some
// of its steps lasts from the first one's start to the last one's end. If the selection does not
// exist, the error is of kind usage and lists what exists; if there are no stages, it ends with
// `why_none`.
Result<void> keep_selected(trace::Trace& trace, Stages& stages, const profile::Selection& selection,
                           std::string_view why_none = {});

}  // namespace llmprof::analysis
