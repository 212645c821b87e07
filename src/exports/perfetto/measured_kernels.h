#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/ranking/kernels.h"
#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"

namespace llmprof::exports {

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
void write_measured_kernels(const PlacedSource& source, trace::DeviceId device,
                            MeasuredNumbers& numbers, TraceFile& file);

}  // namespace llmprof::exports
