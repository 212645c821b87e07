#pragma once

#include <cupti.h>

// CUPTI's callbacks for contexts and graphs as the program creates them.
namespace llmprof::collector {

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

// `data` may be null: CUPTI 13 passes none with its callback of cuInit.
void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data);

// Whether cuInit has returned: until then no other thread may call the driver or CUPTI.
[[nodiscard]] bool cuda_is_ready();
// If CUPTI is attached to a program that has already initialized CUDA.
void note_cuda_is_ready();

}  // namespace llmprof::collector
