#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// CPU and GPU clocks differ slightly: work that appears to start before its call starts with it.
Nanoseconds from_call(Nanoseconds called, Nanoseconds started) {
  return std::max<Nanoseconds>(0, started - called);
}

// `calls` and `starts` are of the same launches; `starts` is sorted. A launch leaves the queue when
// its work starts.
Summary depths(std::span<Nanoseconds> calls, const std::vector<Nanoseconds>& starts) {
  if (!std::ranges::is_sorted(calls)) std::ranges::sort(calls);
  size_t begun = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    while (begun < starts.size() && starts[begun] <= calls[i]) ++begun;
    calls[i] = i > begun ? static_cast<Nanoseconds>(i - begun) : 0;  // replaced by its depth
  }
  return summarize_reordering(calls);
}

constexpr std::array<Nanoseconds, 3> kShortKernelBounds = {2'000, 5'000, 10'000};

class LaunchesOfDevice {
 public:
  explicit LaunchesOfDevice(size_t expected) : expected_(expected) {}

  void add(const trace::LaunchTable& calls, const GpuWorkRow& work, bool first_of_launch) {
    begun_ = true;
    if (work.kind == GpuWorkKind::kernel) count_kernel(work.end - work.start);
    if (!work.launch.valid()) {
      ++row_.without_launch;
    } else if (first_of_launch) {
      if (launches_.capacity() == 0) {
        // Unused capacity is never touched, so it takes no memory.
        launches_.reserve(expected_);
        starts_.reserve(expected_);
      }
      launches_.push_back(work.launch);
      starts_.push_back(work.start);
      const Nanoseconds called = calls.start[work.launch.index()];
      if (until_ <= called) idle_waits_.push_back(from_call(called, work.start));
    }
  }
  // The device has work until `end`.
  void occupy(Nanoseconds end) { until_ = std::max(until_, end); }

  [[nodiscard]] bool begun() const { return begun_; }

  profile::Launches finish(const trace::LaunchTable& calls) {
    row_.launches = launches_.size();
    for (size_t i = 0; i < kShortKernelBounds.size() && kernels_.calls > 0; ++i) {
      const auto& [count, total] = shorter_[i];
      row_.short_kernels.push_back({to_milliseconds(kShortKernelBounds[i]), count,
                                    share(count, kernels_.calls), to_milliseconds(total),
                                    share(total, kernels_.total)});
    }
    row_.to_idle_gpu = times(summarize(std::move(idle_waits_)));
    // One quantity at a time, reusing the memory: there may be millions of launches.
    std::vector<Nanoseconds> values(launches_.size());
    const auto of_each_launch = [&](auto&& value) -> std::span<Nanoseconds> {
      for (size_t i = 0; i < values.size(); ++i) values[i] = value(launches_[i].index(), i);
      return values;
    };
    row_.call = times(summarize_reordering(of_each_launch(
        [&](size_t call, size_t) { return from_call(calls.start[call], calls.end[call]); })));
    row_.to_start = times(summarize_reordering(of_each_launch(
        [&](size_t call, size_t i) { return from_call(calls.start[call], starts_[i]); })));
    // Per launch: the number of earlier launches whose work had not started.
    row_.queue_depth = numbers(
        depths(of_each_launch([&](size_t call, size_t) { return calls.start[call]; }), starts_));
    return row_;
  }

 private:
  void count_kernel(Nanoseconds time) {
    kernels_ += {1, time};
    for (size_t i = kShortKernelBounds.size(); i > 0 && time < kShortKernelBounds[i - 1]; --i) {
      shorter_[i - 1] += {1, time};
    }
  }

  size_t expected_;  // launches
  bool begun_ = false;
  Nanoseconds until_ = INT64_MIN;  // end of all work so far
  Calls kernels_;
  std::array<Calls, kShortKernelBounds.size()> shorter_;  // kernels, by bound
  profile::Launches row_;
  std::vector<trace::LaunchRow> launches_;
  std::vector<Nanoseconds> starts_;  // of their work, in order
  std::vector<Nanoseconds> idle_waits_;
};

}  // namespace

DeviceLaunches find_launches(const trace::Trace& trace) {
  const size_t count = trace.devices.size();
  std::vector<LaunchesOfDevice> devices(
      count, LaunchesOfDevice(trace.launches.size() / std::max<size_t>(count, 1)));
  std::vector<bool> launched(trace.launches.size(), false);
  each_gpu_work(trace, WorkOwners(), [&](const GpuWorkRow& work) {
    const trace::DeviceId id = trace.queues[work.queue].device;
    if (!id.valid() || trace.devices[id.index()].kind != trace::DeviceKind::gpu) return;
    LaunchesOfDevice& device = devices[id.index()];
    if (work.kind != GpuWorkKind::memory_operation) {
      const bool first = work.launch.valid() && !launched[work.launch.index()];
      if (first) launched[work.launch.index()] = true;
      device.add(trace.launches, work, first);
    }
    device.occupy(work.end);
  });
  DeviceLaunches rows;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].begun()) rows[trace::DeviceId(i)] = devices[i].finish(trace.launches);
  }
  return rows;
}

}  // namespace llmprof::analysis
