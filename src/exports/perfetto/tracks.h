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
#include "exports/perfetto/request_tracks.h"
#include "exports/perfetto/trace_file.h"
#include "exports/shared_rows.h"
#include "trace/trace.h"

namespace llmprof::exports {

// The first GPU work that each call launched: its arrow ends there. The arrow of a CUDA graph
// launch ends at the first kernel only.
class WorkOfLaunches {
 public:
  // Flows are numbered from first_flow; the file's other sources use other numbers.
  WorkOfLaunches(const ExportSource& source, uint64_t first_flow);

  // The flow that starts at a call; none if it launched nothing.
  [[nodiscard]] std::optional<uint64_t> flow_from(size_t launch) const;
  // The flow that ends at some work; none unless it is the first work of its launch.
  [[nodiscard]] std::optional<uint64_t> flow_to(WorkKind kind, size_t row) const;

 private:
  struct First {
    Nanoseconds start = 0;
    uint32_t row = UINT32_MAX;  // none
    WorkKind kind = WorkKind::kernel;
  };
  template <class Table>
  void add(const Table& table, WorkKind kind);

  const ExportSource& source_;
  uint64_t first_flow_;       // above 0, which means no flow
  std::vector<First> first_;  // by launch
};

// The processes of a trace with their threads: nested ranges, operators and calls. If `rank` is
// given, the threads belong to the rank's process.
void write_cpu_tracks(const ExportSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file);

// An ncu metric that Perfetto's page on compute kernels shows, under that page's name.
struct ComputeMetric {
  std::string_view name;   // on ncu's raw page
  std::string_view label;  // on ncu's details page; empty if it is not there
  std::string_view unit;
  bool headline = false;  // one of the few shown at every launch of the kernel
};
std::span<const ComputeMetric> compute_metrics();

// The metric's mean over the launches of a kernel that ncu measured.
std::optional<double> find_metric(const std::map<std::string, profile::Metric>& metrics,
                                  const ComputeMetric& wanted);

// Distinguishes the events and counters of a file's sources.
struct MeasuredNumbers {
  uint64_t last_event = 0;
  uint32_t first_counter = 1;  // counters have different ids on different GPUs
  uint32_t first_gpu = 0;      // every rank numbers its GPUs from 0
};

// The GPUs of a source, each in a group that `add_group` makes by its name: stages, steps and
// layers; streams with their kernels, copies, fills and graph replays; counters and sensors; and
// what ncu measured.
void write_devices(const ExportSource& source, const WorkOfLaunches& launched,
                   const RequestTracks& requests,
                   const std::function<TrackUuid(std::string_view)>& add_group,
                   MeasuredNumbers& numbers, TraceFile& file);

// Writes one launch of each kernel and launch shape that ncu measured on a GPU, as a Perfetto GPU
// event. All of ncu's metrics are its arguments; those on Perfetto's page on compute kernels are
// also counters. ncu measures in a separate run: the launch is the first matching one in the
// timeline.
void write_measured_kernels(const ExportSource& source, trace::DeviceId device,
                            MeasuredNumbers& numbers, TraceFile& file);

}  // namespace llmprof::exports
