#include "exports/perfetto/tracks.h"

namespace llmprof::exports {

WorkOfLaunches::WorkOfLaunches(const trace::Trace& trace, uint64_t first_flow)
    : trace_(trace), first_flow_(first_flow), first_(trace.launches.size()) {
  add(trace.kernels, WorkKind::kernel);
  add(trace.memory_operations, WorkKind::memory_operation);
  add(trace.graph_replays, WorkKind::graph_replay);
}

template <class Table>
void WorkOfLaunches::add(const Table& table, WorkKind kind) {
  for (size_t row = 0; row < table.launch.size(); ++row) {
    if (!table.launch[row].valid()) continue;
    First& first = first_[table.launch[row].index()];
    if (first.row != UINT32_MAX && first.start <= table.start[row]) continue;
    first = {table.start[row], static_cast<uint32_t>(row), kind};
  }
}

trace::LaunchRow WorkOfLaunches::launch_of(WorkKind kind, size_t row) const {
  if (kind == WorkKind::kernel) return trace_.kernels.launch[row];
  if (kind == WorkKind::memory_operation) return trace_.memory_operations.launch[row];
  return trace_.graph_replays.launch[row];
}

std::optional<uint64_t> WorkOfLaunches::flow_from(size_t launch) const {
  if (first_[launch].row == UINT32_MAX) return std::nullopt;
  return first_flow_ + launch;
}

std::optional<uint64_t> WorkOfLaunches::flow_to(WorkKind kind, size_t row) const {
  const trace::LaunchRow launch = launch_of(kind, row);
  if (!launch.valid()) return std::nullopt;
  const First& first = first_[launch.index()];
  if (first.kind != kind || first.row != row) return std::nullopt;
  return first_flow_ + launch.index();
}

}  // namespace llmprof::exports
