#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/statistics/statistics.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Kernels shorter than a time, on one GPU.
struct ShortKernels {
  Nanoseconds below = 0;
  uint64_t count = 0;
  Nanoseconds total = 0;
};
inline constexpr std::array<Nanoseconds, 3> kShortKernelBounds = {2'000, 5'000, 10'000};

// How kernels came to one GPU. A launch is a call that put kernels (or a graph replay) on it; its
// work begins with the first of them.
struct LaunchesOfDevice {
  trace::DeviceId device;
  uint64_t kernels = 0;
  Nanoseconds kernel_time = 0;
  std::array<ShortKernels, kShortKernelBounds.size()> shorter{};
  uint64_t without_launch = 0;  // kernels and replays whose call was not recorded
  uint64_t launches = 0;
  Statistics call;         // duration of the call
  Statistics to_start;     // from the call's start to its work's start; waiting included
  Statistics to_idle_gpu;  // the same, of calls made while the GPU had nothing to do
  // Of each launch: how many earlier launches had been called and their work not begun. A plain
  // number, not a time.
  Statistics queue_depth;
};

// One entry per GPU with kernels or graph replays, in the order of the trace's devices.
std::vector<LaunchesOfDevice> find_launches(const trace::Trace& trace);

}  // namespace llmprof::analysis
