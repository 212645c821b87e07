#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/stages/stages.h"
#include "base/error.h"

namespace llmprof::analysis {

// What part of a capture an analysis is about (--device, --stage, --steps).
struct Selection {
  std::optional<uint32_t> device;  // CUDA's number
  std::optional<std::string> stage;
  std::optional<std::pair<uint32_t, uint32_t>> steps;  // [first, second) of every instance

  [[nodiscard]] bool everything() const { return !device && !stage && !steps; }
};

// What figures of one instance of a stage are given per: "request", "engine step"; "decode" of one
// stage only, "8 steps" of some steps only.
std::string instance_unit(const Stages& stages, const Selection& selection, uint32_t stage);

// "4:12", "4:", ":12", "7". Errors are of kind usage.
Result<std::pair<uint32_t, uint32_t>> parse_step_range(std::string_view text);

// Keeps what is marked, of a column and of all columns of a table.
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

// Takes the kernels, memory operations and graph replays of other devices out of a trace.
Result<void> keep_device(trace::Trace& trace, uint32_t ordinal);

// Takes all GPU work outside of the wanted stage and steps out of both. An instance cut to some of
// its steps lasts from the first one's start to the last one's end. What is wanted and not there is
// an error of kind usage that names what is there.
Result<void> keep_selected(trace::Trace& trace, Stages& stages, const Selection& selection);

}  // namespace llmprof::analysis
