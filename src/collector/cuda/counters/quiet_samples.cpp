#include "collector/cuda/counters/quiet_samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmprof::collector {
namespace {

// An idle GPU's own traffic is below this: 11 MB/s of PCIe writes on an H200.
constexpr double kQuietBytesPerNanosecond = 0.064;
bool counts_bytes(const char* unit) { return std::strcmp(unit, "byte") == 0; }

double length(SampleTime time) { return static_cast<double>(time.end - time.start); }

}  // namespace

bool QuietSamples::is_quiet(SampleTime time, const double* values) const {
  bool sees_kernels = false;
  for (size_t i = 0; i < metrics_.count; ++i) {
    if (std::isnan(values[i])) return false;
    if (counts_bytes(metrics_.units[i])) {
      if (values[i] > kQuietBytesPerNanosecond * length(time)) return false;
    } else if (metrics_.quantities[i] == Quantity::sm_active) {
      if (values[i] > 0) return false;
      sees_kernels = true;
    }
  }
  return sees_kernels;
}

bool QuietSamples::continues(SampleTime time) const {
  // A lost sample between them leaves a gap of its length, which is not idle time.
  const double shorter = std::min(length(time), length(time_));
  return std::abs(static_cast<double>(time.start - time_.end)) < shorter / 2;
}

void QuietSamples::join(SampleTime time, const double* values) {
  const double before = length(time_);
  const double all = before + length(time);
  for (size_t i = 0; i < metrics_.count; ++i) {
    if (counts_bytes(metrics_.units[i])) {
      values_[i] += values[i];
    } else if (all > 0) {
      values_[i] = (values_[i] * before + values[i] * length(time)) / all;
    }
  }
  time_.end = time.end;
}

void QuietSamples::add(SampleTime time, const double* values) {
  const bool quiet = is_quiet(time, values);
  if (quiet && pending_ && continues(time)) return join(time, values);
  write_pending();
  if (!quiet) return write_short_counter_sample(set_, time, values, metrics_.count);
  pending_ = true;
  time_ = time;
  std::memcpy(values_, values, metrics_.count * sizeof *values);
}

void QuietSamples::write_pending() {
  if (!pending_) return;
  pending_ = false;
  write_short_counter_sample(set_, time_, values_, metrics_.count);
}

}  // namespace llmprof::collector
