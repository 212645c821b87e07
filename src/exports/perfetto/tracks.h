#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "exports/exports.h"
#include "exports/perfetto/trace_file.h"
#include "exports/shared_rows.h"
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
WriteDevice gpu_tracks(const ExportSource& source, const WorkOfLaunches& launched, TraceFile& file);

// Every counter and sensor of one GPU. A sample's value holds from its start to its end; where no
// other begins there, the track falls to 0. What was read at an instant holds until the next.
void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file);

// The processes of a trace with their threads: ranges, operators and calls, inside each other. The
// threads of a rank belong to the rank's own process where one is given.
void write_cpu_tracks(const ExportSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file);

// The stages, steps and layers of what ran on one GPU; of no GPU where `device` is none.
void write_stage_tracks(const ExportSource& source, trace::DeviceId device, TrackUuid parent,
                        TraceFile& file);

// A metric of ncu that Perfetto's page on compute kernels shows, under the name that it has there.
struct ComputeMetric {
  std::string_view name;   // as ncu's raw page has it
  std::string_view label;  // as ncu's details page has it; empty where that does not show it
  std::string_view unit;
  bool headline = false;  // short enough a list for every launch of the kernel
};
std::span<const ComputeMetric> compute_metrics();

// Its mean over the launches that ncu measured of a kernel.
std::optional<double> find_metric(const std::map<std::string, analysis::MetricSummary>& metrics,
                                  const ComputeMetric& wanted);

// What distinguishes the events and counters of a file's sources.
struct MeasuredNumbers {
  uint64_t last_event = 0;
  uint32_t first_counter = 1;  // counters have different ids on different GPUs
  uint32_t first_gpu = 0;      // every rank's GPUs are numbered from 0 on
};

// Writes one launch of each kernel and launch shape that ncu measured on a GPU, as Perfetto's own
// kind of GPU event, with all of ncu's metrics as its arguments and those that Perfetto's page on
// compute kernels shows as counters. ncu measures in a run of its own: the launch is the first like
// it in the timeline.
void write_measured_kernels(const ExportSource& source, trace::DeviceId device,
                            MeasuredNumbers& numbers, TraceFile& file);

}  // namespace llmprof::exports
