#pragma once

#include <cupti.h>

// What CUPTI tells of contexts and graphs as the program makes them.
namespace llmprof::collector {

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

// `data` is null for some callbacks: of cuInit, on CUDA 13.
void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data);

// Whether cuInit has returned: until then no other thread may call the driver or CUPTI.
[[nodiscard]] bool cuda_is_ready();
// Where CUPTI is attached to a program that has long initialised CUDA.
void note_cuda_is_ready();

}  // namespace llmprof::collector
