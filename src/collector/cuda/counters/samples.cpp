#include "collector/cuda/counters/samples.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "collector/environment.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

constexpr size_t kMaxColumns = 32;

constinit std::atomic<uint32_t> last_set = 0;

// An idle GPU's own traffic is below this: 11 MB/s of PCIe writes on an H200.
constexpr double kQuietBytesPerNanosecond = 0.064;
bool counts_bytes(const char* unit) { return std::strcmp(unit, "byte") == 0; }

double length(SampleTime time) { return static_cast<double>(time.end - time.start); }

}  // namespace

uint32_t write_counter_set(uint32_t device, int64_t period, const SampleColumns& columns) {
  wire::CounterColumn keys[kMaxColumns] = {};
  const size_t count = columns.count < kMaxColumns ? columns.count : kMaxColumns;
  for (size_t i = 0; i < count; ++i) {
    keys[i] = {text_key(columns.names[i]), text_key(columns.units[i])};
  }
  const uint32_t number = last_set.fetch_add(1, std::memory_order_relaxed) + 1;
  const wire::CounterSet set = {number, device, period, static_cast<uint32_t>(count), 0};
  write_device_record(wire::RecordType::counter_set, &set, sizeof set, keys, count * sizeof *keys);
  return number;
}

void write_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count) {
  const wire::CounterSample sample = {time.start, time.end, set, static_cast<uint32_t>(count)};
  write_device_record(wire::RecordType::counter_sample, &sample, sizeof sample, values,
                      count * sizeof *values);
}

void write_short_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count) {
  const int64_t duration = time.end - time.start;
  if (count > kMaxColumns || set > UINT16_MAX || duration < 0 || duration > UINT32_MAX) {
    return write_counter_sample(set, time, values, count);
  }
  float floats[kMaxColumns] = {};
  for (size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(values[i]);
  const wire::ShortCounterSample sample = {time.start, static_cast<uint32_t>(duration),
                                           static_cast<uint16_t>(set),
                                           static_cast<uint16_t>(count)};
  write_device_record(wire::RecordType::short_counter_sample, &sample, sizeof sample, floats,
                      count * sizeof *floats);
}

void write_counters_lost() {
  write_device_record(wire::RecordType::counters_lost, wire::CountersLost{now_ns(), 1});
}

void write_counters_off(const char* reason) {
  write_device_record(wire::RecordType::counters_off,
                      wire::CountersOff{now_ns(), text_key(reason), 0});
}

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
