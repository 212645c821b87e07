#pragma once

#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// GPU work of one owner, met in the order of its starts.
class GpuWorkMeter {
 public:
  void add_kernel(Nanoseconds start, Nanoseconds end);
  void add_memory(Nanoseconds start, Nanoseconds end);
  void add_replay(Nanoseconds start, Nanoseconds end);

  [[nodiscard]] const GpuWork& work() const { return work_; }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] Nanoseconds first_start() const { return first_start_; }
  [[nodiscard]] Nanoseconds last_end() const { return last_end_; }

 private:
  void add_busy(Nanoseconds start, Nanoseconds end);

  GpuWork work_;
  bool any_ = false;
  Nanoseconds first_start_ = 0;
  Nanoseconds last_end_ = 0;
  Nanoseconds kernel_end_ = INT64_MIN;
};

struct MeteredWork {
  std::vector<GpuWorkMeter> instances;
  std::vector<GpuWorkMeter> steps;
};

// Of each instance and step, by `stages.owners`.
MeteredWork meter_work(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
