#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "collector/cuda/cupti/cupti_library.h"

// The CUPTI functions that PM sampling needs, available since CUDA 12.6.
namespace llmprof::collector {

// The call that failed, and CUPTI's result.
struct PmFailure {
  const char* call = nullptr;  // null: nothing failed
  CUptiResult result = CUPTI_SUCCESS;

  explicit operator bool() const { return call != nullptr; }
};

// Takes one structure, whose size shows CUPTI its version.
template <class Parameters, size_t Size>
struct PmFunction {
  const char* name;
  CUptiResult(CUPTIAPI* function)(Parameters*) = nullptr;

  bool find() {
    function = reinterpret_cast<decltype(function)>(cupti_symbol(name));
    return function != nullptr;
  }
  PmFailure operator()(Parameters& parameters) const {
    parameters.structSize = Size;
    const CUptiResult result = function(&parameters);
    return result == CUPTI_SUCCESS ? PmFailure{} : PmFailure{name, result};
  }
  PmFailure operator()(Parameters&& parameters) const { return (*this)(parameters); }
};

// All of them are needed for counters. The only list: it declares the table's fields and finds
// them.
#define LLMPROF_PM_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(initialize, cuptiProfilerInitialize, Profiler_Initialize)                               \
  FUNCTION(chip_name, cuptiDeviceGetChipName, Device_GetChipName)                                  \
  FUNCTION(availability, cuptiPmSamplingGetCounterAvailability, PmSampling_GetCounterAvailability) \
  FUNCTION(host_begin, cuptiProfilerHostInitialize, Profiler_Host_Initialize)                      \
  FUNCTION(host_end, cuptiProfilerHostDeinitialize, Profiler_Host_Deinitialize)                    \
  FUNCTION(add_metrics, cuptiProfilerHostConfigAddMetrics, Profiler_Host_ConfigAddMetrics)         \
  FUNCTION(config_size, cuptiProfilerHostGetConfigImageSize, Profiler_Host_GetConfigImageSize)     \
  FUNCTION(config, cuptiProfilerHostGetConfigImage, Profiler_Host_GetConfigImage)                  \
  FUNCTION(passes, cuptiProfilerHostGetNumOfPasses, Profiler_Host_GetNumOfPasses)                  \
  FUNCTION(evaluate, cuptiProfilerHostEvaluateToGpuValues, Profiler_Host_EvaluateToGpuValues)      \
  FUNCTION(enable, cuptiPmSamplingEnable, PmSampling_Enable)                                       \
  FUNCTION(disable, cuptiPmSamplingDisable, PmSampling_Disable)                                    \
  FUNCTION(set_config, cuptiPmSamplingSetConfig, PmSampling_SetConfig)                             \
  FUNCTION(start, cuptiPmSamplingStart, PmSampling_Start)                                          \
  FUNCTION(stop, cuptiPmSamplingStop, PmSampling_Stop)                                             \
  FUNCTION(decode, cuptiPmSamplingDecodeData, PmSampling_DecodeData)                               \
  FUNCTION(image_size, cuptiPmSamplingGetCounterDataSize, PmSampling_GetCounterDataSize)           \
  FUNCTION(image_reset, cuptiPmSamplingCounterDataImageInitialize,                                 \
           PmSampling_CounterDataImage_Initialize)                                                 \
  FUNCTION(image_info, cuptiPmSamplingGetCounterDataInfo, PmSampling_GetCounterDataInfo)           \
  FUNCTION(sample_info, cuptiPmSamplingCounterDataGetSampleInfo,                                   \
           PmSampling_CounterData_GetSampleInfo)

struct PmFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be in parentheses
#define LLMPROF_DECLARE(field, name, takes) \
  PmFunction<CUpti_##takes##_Params, CUpti_##takes##_Params_STRUCT_SIZE> field{#name};
  // NOLINTEND(bugprone-macro-parentheses)
  LLMPROF_PM_FUNCTIONS(LLMPROF_DECLARE)
#undef LLMPROF_DECLARE

  // After load_cupti. False if this libcupti lacks one of them.
  bool load() {
    bool all = true;
#define LLMPROF_FIND(field, name, takes) all = (field).find() && all;
    LLMPROF_PM_FUNCTIONS(LLMPROF_FIND)
#undef LLMPROF_FIND
    return all;
  }
};
inline constinit PmFunctions pm;

}  // namespace llmprof::collector
