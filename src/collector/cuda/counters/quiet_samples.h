#pragma once

#include "collector/cuda/counters/pm_metrics.h"
#include "collector/cuda/counters/sampler_records.h"

namespace llmprof::collector {

// Writes samples. Consecutive samples in which nothing ran are merged: a GPU that waits for its
// host would otherwise fill most of the log. Bytes are summed, other values averaged over time, so
// no total changes.
class QuietSamples {
 public:
  QuietSamples(const MetricChoice& metrics, uint32_t set) : metrics_(metrics), set_(set) {}
  QuietSamples(const QuietSamples&) = delete;
  QuietSamples& operator=(const QuietSamples&) = delete;
  ~QuietSamples() { write_pending(); }

  // In order of time; `values` in the order of the metrics.
  void add(SampleTime time, const double* values);

 private:
  [[nodiscard]] bool is_quiet(SampleTime time, const double* values) const;
  [[nodiscard]] bool continues(SampleTime time) const;
  void join(SampleTime time, const double* values);
  void write_pending();

  const MetricChoice& metrics_;
  uint32_t set_;
  bool pending_ = false;
  SampleTime time_;
  double values_[kMaxMetrics] = {};
};

}  // namespace llmprof::collector
