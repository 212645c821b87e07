#include "collector/cuda/counters/pm_metrics.h"

#include <cstdlib>

namespace llmprof::collector {
namespace {

PmFailure begin_host(const char* chip, const uint8_t* availability, MetricChoice& choice) {
  CUpti_Profiler_Host_Initialize_Params host{.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING,
                                             .pChipName = chip,
                                             .pCounterAvailabilityImage = availability};
  if (const auto failure = pm.host_begin(host)) return failure;
  choice.host = host.pHostObject;
  return {};
}

PmFailure add_metrics(MetricChoice& choice) {
  return pm.add_metrics(
      {.pHostObject = choice.host, .ppMetricNames = choice.names, .numMetrics = choice.count});
}

PmFailure make_config(MetricChoice& choice) {
  CUpti_Profiler_Host_GetConfigImageSize_Params size{.pHostObject = choice.host};
  if (const auto failure = pm.config_size(size)) return failure;
  choice.config = static_cast<uint8_t*>(malloc(size.configImageSize));
  if (choice.config == nullptr) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
  choice.config_bytes = size.configImageSize;
  return pm.config({.pHostObject = choice.host,
                    .configImageSize = choice.config_bytes,
                    .pConfigImage = choice.config});
}

bool takes_one_pass(const MetricChoice& choice) {
  CUpti_Profiler_Host_GetNumOfPasses_Params passes{.configImageSize = choice.config_bytes,
                                                   .pConfigImage = choice.config};
  return !pm.passes(passes) && passes.numOfPasses == 1;
}

void add(MetricChoice& choice, const WantedMetric& metric) {
  choice.names[choice.count] = metric.name;
  choice.units[choice.count] = metric.unit;
  choice.quantities[choice.count] = metric.quantity;
  ++choice.count;
}

// `choice` plus one metric, not yet configured: CUPTI cannot remove a metric.
MetricChoice with(const MetricChoice& choice, const WantedMetric& metric) {
  MetricChoice larger = choice;
  larger.host = nullptr;
  larger.config = nullptr;
  add(larger, metric);
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
  if (choice.host != nullptr) pm.host_end({.pHostObject = choice.host});
  free(choice.config);
  choice = {};
}

}  // namespace llmprof::collector
