#include "testing/reader_outcome.h"

namespace llmprof::testing {
namespace {

bool holds_anything(const Trace& trace) {
  return trace.workload.has_value() ||
         trace.kernels.size() + trace.memory_operations.size() + trace.graph_replays.size() +
                 trace.launches.size() + trace.ranges.size() + trace.steps.size() +
                 trace.operators.size() + trace.kernel_summaries.size() +
                 trace.call_summaries.size() + trace.profiled_launches.size() >
             0;
}

template <class Table>
bool columns_agree(Table& table) {
  return std::apply(
      [&](auto&... column) { return ((column.empty() || column.size() == table.size()) && ...); },
      table.columns());
}

}  // namespace

std::string judge_reading(const Reader& reader, const std::filesystem::path& path) {
  TraceBuilder builder;
  const auto done = reader.read(path, builder);
  if (!done) return done.error().message.empty() ? "an error without a message" : "";
  Trace trace = std::move(builder).freeze();
  if (!holds_anything(trace) && trace.diagnostics.items().empty()) return "an empty success";
  if (!columns_agree(trace.kernels) || !columns_agree(trace.memory_operations) ||
      !columns_agree(trace.graph_replays) || !columns_agree(trace.launches) ||
      !columns_agree(trace.ranges) || !columns_agree(trace.steps) ||
      !columns_agree(trace.operators)) {
    return "columns of different lengths";
  }
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    if (trace.kernels.end[i] < trace.kernels.start[i]) return "a kernel that ends before it starts";
  }
  return {};
}

}  // namespace llmprof::testing
