#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/cuda/counters/pm_metrics.h"

// The log records of counters and sensors.
namespace llmprof::collector {

struct SampleColumns {
  const char* const* names = nullptr;
  const char* const* units = nullptr;
  size_t count = 0;
};

// Defines the columns of the samples that follow; period in ns, 0 if it varies. Returns the set's
// number.
uint32_t write_counter_set(uint32_t device, int64_t period, const SampleColumns& columns);

struct SampleTime {
  int64_t start = 0;
  int64_t end = 0;
};
// As doubles, for values that grow without bound.
void write_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count);
// As floats, for values that come by the thousands.
void write_short_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count);

// Records one loss of samples.
void write_counters_lost();

// `reason`: a sentence for the report.
void write_counters_off(const char* reason);

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
