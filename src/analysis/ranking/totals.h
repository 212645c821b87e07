#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Kernel time of one GPU. Sum counts overlapping kernels twice, busy once; span runs from the first
// start to the last end. Busy and span need a timeline.
struct DeviceTotals {
  std::string device;  // "cuda:0"
  std::string name;    // "NVIDIA H200", empty where unknown
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::optional<Nanoseconds> busy;
  std::optional<Nanoseconds> span;
};

struct Totals {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::optional<Nanoseconds> busy;  // union per device, summed over devices
  std::optional<Nanoseconds>
      span;  // per device, the longest: devices of several captures share no clock
  uint64_t memory_operation_count = 0;
  Nanoseconds memory_operation_sum = 0;
  uint64_t graph_replay_count = 0;
  Nanoseconds graph_replay_sum = 0;
  std::vector<DeviceTotals> devices;
  // GPUs that these are: timelines of several runs on one GPU list it once each.
  size_t gpu_count = 0;
};

Totals total_up(const trace::Trace& trace, const KernelRanking& ranking);

}  // namespace llmprof::analysis
