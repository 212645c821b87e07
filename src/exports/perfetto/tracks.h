#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"
#include "trace/trace.h"

namespace llmprof::exports {

// The tables of a trace that hold GPU work.
enum class WorkKind : uint8_t { kernel, memory_operation, graph_replay };

// The first work that each call put on a GPU: where its arrow leads. A CUDA graph's launch has an
// arrow to the first of its kernels alone.
class WorkOfLaunches {
 public:
  // Flows have numbers from first_flow on: those of the file's other sources have others.
  explicit WorkOfLaunches(const trace::Trace& trace, uint64_t first_flow = 1);

  // The flow that begins at a call; none where it launched nothing.
  [[nodiscard]] std::optional<uint64_t> flow_from(size_t launch) const;
  // The flow that ends at some work; none where another is the first of its launch.
  [[nodiscard]] std::optional<uint64_t> flow_to(WorkKind kind, size_t row) const;

 private:
  struct First {
    Nanoseconds start = 0;
    uint32_t row = UINT32_MAX;  // none
    WorkKind kind = WorkKind::kernel;
  };
  template <class Table>
  void add(const Table& table, WorkKind kind);
  [[nodiscard]] trace::LaunchRow launch_of(WorkKind kind, size_t row) const;

  const trace::Trace& trace_;
  uint64_t first_flow_;       // above 0, which is no flow
  std::vector<First> first_;  // by launch
};

// Writes the streams of one GPU, each with its kernels, copies, fills and graph replays. What it
// was made of must outlive it.
using WriteDevice = std::function<void(trace::DeviceId device, TrackUuid parent)>;
WriteDevice gpu_tracks(const PlacedSource& source, const WorkOfLaunches& launched, TraceFile& file);

// Every counter and sensor of one GPU. A sample's value holds from its start to its end; where no
// other begins there, the track falls to 0. What was read at an instant holds until the next.
void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file);

// The processes of a trace with their threads: ranges, operators and calls, inside each other. The
// threads of a rank belong to the rank's own process where one is given.
void write_cpu_tracks(const PlacedSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file);

// The stages, steps and layers of what ran on one GPU; of no GPU where `device` is none.
void write_stage_tracks(const PlacedSource& source, trace::DeviceId device, TrackUuid parent,
                        TraceFile& file);

}  // namespace llmprof::exports
