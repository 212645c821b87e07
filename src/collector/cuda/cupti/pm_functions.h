#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

// The functions of CUPTI that PM sampling needs; they came with CUDA 12.6.
namespace llmprof::collector {

// The only list: declares the table's fields, and finds them. Without all of them there are no
// counters.
#define LLMPROF_PM_FUNCTIONS(FUNCTION)                             \
  FUNCTION(initialize, cuptiProfilerInitialize)                    \
  FUNCTION(chip_name, cuptiDeviceGetChipName)                      \
  FUNCTION(availability, cuptiPmSamplingGetCounterAvailability)    \
  FUNCTION(host_begin, cuptiProfilerHostInitialize)                \
  FUNCTION(host_end, cuptiProfilerHostDeinitialize)                \
  FUNCTION(add_metrics, cuptiProfilerHostConfigAddMetrics)         \
  FUNCTION(config_size, cuptiProfilerHostGetConfigImageSize)       \
  FUNCTION(config, cuptiProfilerHostGetConfigImage)                \
  FUNCTION(passes, cuptiProfilerHostGetNumOfPasses)                \
  FUNCTION(evaluate, cuptiProfilerHostEvaluateToGpuValues)         \
  FUNCTION(enable, cuptiPmSamplingEnable)                          \
  FUNCTION(disable, cuptiPmSamplingDisable)                        \
  FUNCTION(set_config, cuptiPmSamplingSetConfig)                   \
  FUNCTION(start, cuptiPmSamplingStart)                            \
  FUNCTION(stop, cuptiPmSamplingStop)                              \
  FUNCTION(decode, cuptiPmSamplingDecodeData)                      \
  FUNCTION(image_size, cuptiPmSamplingGetCounterDataSize)          \
  FUNCTION(image_reset, cuptiPmSamplingCounterDataImageInitialize) \
  FUNCTION(image_info, cuptiPmSamplingGetCounterDataInfo)          \
  FUNCTION(sample_info, cuptiPmSamplingCounterDataGetSampleInfo)

struct PmFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names cannot be in parentheses
#define LLMPROF_DECLARE(field, name) decltype(name)* field = nullptr;
  LLMPROF_PM_FUNCTIONS(LLMPROF_DECLARE)
#undef LLMPROF_DECLARE
};

// After load_cupti. False if this libcupti lacks one of them.
bool load_pm_functions();
const PmFunctions& pm();

// The call that failed, and CUPTI's result.
struct PmFailure {
  const char* call = nullptr;  // null: nothing failed
  CUptiResult result = CUPTI_SUCCESS;

  explicit operator bool() const { return call != nullptr; }
};

// CUPTI's parameters, with the size from which it knows their version.
#define LLMPROF_PM_PARAMETERS(type, name) \
  type name{};                            \
  (name).structSize = type##_STRUCT_SIZE

inline PmFailure failure_of(const char* call, CUptiResult result) {
  return result == CUPTI_SUCCESS ? PmFailure{} : PmFailure{call, result};
}

// Calls an entry of the table: the failure, if there is one.
#define LLMPROF_PM_CALL(field, name, parameters) failure_of(#name, pm().field(&(parameters)))
// And returns it from the function.
#define LLMPROF_PM_TRY(field, name, parameters)                                 \
  if (const PmFailure failed_call = LLMPROF_PM_CALL(field, name, parameters)) { \
    return failed_call;                                                         \
  }

}  // namespace llmprof::collector
