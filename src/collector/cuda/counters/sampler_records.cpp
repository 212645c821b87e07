#include "collector/cuda/counters/sampler_records.h"

#include <atomic>

#include "collector/clock.h"
#include "collector/device_records.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

constexpr size_t kMaxColumns = 32;

constinit std::atomic<uint32_t> last_set = 0;

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

}  // namespace llmprof::collector
