#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "collector/cuda/counters/metric_preferences.h"
#include "collector/cuda/cupti/pm_functions.h"

// Which of the wanted counters a chip can sample together.
namespace llmprof::collector {

inline constexpr size_t kMostMetrics = std::size(kWantedMetrics);

struct MetricChoice {
  const char* names[kMostMetrics] = {};
  const char* units[kMostMetrics] = {};
  Quantity quantities[kMostMetrics] = {};
  size_t count = 0;
  CUpti_Profiler_Host_Object* host = nullptr;  // evaluates the samples
  uint8_t* config = nullptr;                   // the hardware's configuration, allocated
  size_t config_bytes = 0;
};

[[nodiscard]] bool has(const MetricChoice& choice, Quantity quantity);

// What of kWantedMetrics fits into one pass on the chip, the most wanted first; none is no failure.
// `availability`: of the very device, outlives the choice; null: all that the chip may have. Asks
// the host API alone: no GPU is needed.
PmFailure choose_metrics(const char* chip, const uint8_t* availability, MetricChoice& choice);

void release(MetricChoice& choice);

}  // namespace llmprof::collector
