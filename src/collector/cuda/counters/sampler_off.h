#pragma once

#include <cstdint>

#include "collector/cuda/counters/pm_metrics.h"
#include "collector/cuda/cupti/pm_functions.h"

// Sentences for counters_off records: what is missing, why, and what helps.
namespace llmprof::collector {

struct SampledDevice {
  uint32_t ordinal = 0;
  const char* chip = "";  // empty where it is not known
};

// Whether other devices of the machine will fail likewise.
[[nodiscard]] bool concerns_all_devices(PmFailure failure);

void tell_sampling_failed(const SampledDevice& device, PmFailure failure);
void tell_cupti_lacks_sampling();
void tell_cupti_missing();
// What a report looks for first and the chip, or one pass, does not offer.
void tell_missing_quantities(const SampledDevice& device, const MetricChoice& choice);
void tell_nvml_missing();

}  // namespace llmprof::collector
