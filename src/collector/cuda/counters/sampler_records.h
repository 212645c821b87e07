#pragma once

#include <cstddef>
#include <cstdint>

// What counters and sensors write to the log.
namespace llmprof::collector {

struct SampleColumns {
  const char* const* names = nullptr;
  const char* const* units = nullptr;
  size_t count = 0;
};

// Defines the columns of the samples that follow; period in ns, 0 where it varies. The set's
// number.
uint32_t write_counter_set(uint32_t device, int64_t period, const SampleColumns& columns);

struct SampleTime {
  int64_t start = 0;
  int64_t end = 0;
};
// In full, for values that grow for ever.
void write_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count);
// As floats, for those that come by the thousand.
void write_short_counter_sample(uint32_t set, SampleTime time, const double* values, size_t count);

// That samples were lost, once.
void write_counters_lost();

// A sentence for the reader of the report.
void write_counters_off(const char* reason);

}  // namespace llmprof::collector
