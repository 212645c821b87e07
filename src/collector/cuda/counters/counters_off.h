#pragma once

#include <cstdint>

#include "collector/cuda/counters/pm_metrics.h"
#include "collector/cuda/cupti/pm_functions.h"

// Sentences for counters_off records: what is missing, why, and how to fix it.
namespace llmprof::collector {

struct SampledDevice {
  uint32_t ordinal = 0;
  const char* chip = "";  // empty if it is not known
};

// Whether other devices of the machine will fail in the same way.
[[nodiscard]] bool concerns_all_devices(PmFailure failure);

void report_sampling_failed(const SampledDevice& device, PmFailure failure);
void report_cupti_lacks_sampling();
void report_cupti_missing();
// Important quantities that the chip cannot sample, or not in one pass.
void report_missing_quantities(const SampledDevice& device, const MetricChoice& choice);
void report_nvml_missing();

}  // namespace llmprof::collector
