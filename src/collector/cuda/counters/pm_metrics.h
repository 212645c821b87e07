#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "collector/cuda/counters/metric_preferences.h"
#include "collector/cuda/cupti/pm_functions.h"

// Chooses the counters that a chip can sample together.
namespace llmprof::collector {

inline constexpr size_t kMaxMetrics = std::size(kWantedMetrics);

struct MetricChoice {
  const char* names[kMaxMetrics] = {};
  const char* units[kMaxMetrics] = {};
  Quantity quantities[kMaxMetrics] = {};
  size_t count = 0;
  CUpti_Profiler_Host_Object* host = nullptr;  // evaluates the samples
  uint8_t* config = nullptr;                   // the hardware's configuration, allocated
  size_t config_bytes = 0;
};

[[nodiscard]] bool has(const MetricChoice& choice, Quantity quantity);

// The metrics of kWantedMetrics that fit into one pass on the chip, by priority; none is not a
// failure. `availability`: that of the device, outlives the choice; null: whatever the chip may
// have. Uses CUPTI's host API only: no GPU is needed.
PmFailure choose_metrics(const char* chip, const uint8_t* availability, MetricChoice& choice);

void release(MetricChoice& choice);

}  // namespace llmprof::collector
