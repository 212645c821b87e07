#include "collector/cuda/counters/pm_metrics.h"

#include <cstdlib>

namespace llmprof::collector {
namespace {

PmFailure begin_host(const char* chip, const uint8_t* availability, MetricChoice& choice) {
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, parameters);
  parameters.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  parameters.pChipName = chip;
  parameters.pCounterAvailabilityImage = availability;
  LLMPROF_PM_TRY(host_begin, cuptiProfilerHostInitialize, parameters)
  choice.host = parameters.pHostObject;
  return {};
}

PmFailure add_metrics(MetricChoice& choice) {
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
  parameters.pHostObject = choice.host;
  parameters.ppMetricNames = choice.names;
  parameters.numMetrics = choice.count;
  return LLMPROF_PM_CALL(add_metrics, cuptiProfilerHostConfigAddMetrics, parameters);
}

PmFailure make_config(MetricChoice& choice) {
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = choice.host;
  LLMPROF_PM_TRY(config_size, cuptiProfilerHostGetConfigImageSize, size)
  choice.config = static_cast<uint8_t*>(malloc(size.configImageSize));
  if (choice.config == nullptr) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
  choice.config_bytes = size.configImageSize;
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = choice.host;
  image.configImageSize = choice.config_bytes;
  image.pConfigImage = choice.config;
  return LLMPROF_PM_CALL(config, cuptiProfilerHostGetConfigImage, image);
}

bool takes_one_pass(const MetricChoice& choice) {
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, parameters);
  parameters.configImageSize = choice.config_bytes;
  parameters.pConfigImage = choice.config;
  return pm().passes(&parameters) == CUPTI_SUCCESS && parameters.numOfPasses == 1;
}

void add(MetricChoice& choice, const WantedMetric& metric) {
  choice.names[choice.count] = metric.name;
  choice.units[choice.count] = metric.unit;
  choice.quantities[choice.count] = metric.quantity;
  ++choice.count;
}

// The metrics of `choice` and one more, not yet configured: CUPTI cannot remove one again.
MetricChoice with(const MetricChoice& choice, const WantedMetric& metric) {
  MetricChoice larger = choice;
  add(larger, metric);
  larger.host = nullptr;
  larger.config = nullptr;
  larger.config_bytes = 0;
  return larger;
}

bool configured(MetricChoice& choice) {
  return !add_metrics(choice) && !make_config(choice) && takes_one_pass(choice);
}

PmFailure choose_one_by_one(const char* chip, const uint8_t* availability, MetricChoice& choice) {
  for (const WantedMetric& wanted : kWantedMetrics) {
    if (has(choice, wanted.quantity)) continue;
    MetricChoice larger = with(choice, wanted);
    if (const auto failure = begin_host(chip, availability, larger)) {
      release(choice);
      return failure;
    }
    if (configured(larger)) {
      release(choice);
      choice = larger;
    } else {
      release(larger);
    }
  }
  return {};
}

}  // namespace

bool has(const MetricChoice& choice, Quantity quantity) {
  for (size_t i = 0; i < choice.count; ++i) {
    if (choice.quantities[i] == quantity) return true;
  }
  return false;
}

PmFailure choose_metrics(const char* chip, const uint8_t* availability, MetricChoice& choice) {
  choice = {};
  // If a chip supports the first name of each quantity, the usual case, CUPTI is queried once: each
  // query takes tens of milliseconds.
  for (const WantedMetric& wanted : kWantedMetrics) {
    if (!has(choice, wanted.quantity)) add(choice, wanted);
  }
  if (const auto failure = begin_host(chip, availability, choice)) {
    release(choice);
    return failure;
  }
  if (configured(choice)) return {};
  release(choice);
  return choose_one_by_one(chip, availability, choice);
}

void release(MetricChoice& choice) {
  if (choice.host != nullptr) {
    LLMPROF_PM_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
    parameters.pHostObject = choice.host;
    pm().host_end(&parameters);
  }
  free(choice.config);
  choice = {};
}

}  // namespace llmprof::collector
