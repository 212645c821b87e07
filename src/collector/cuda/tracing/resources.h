#pragma once

#include <cupti.h>

// What CUPTI tells of contexts and graphs as the program makes them.
namespace llmprof::collector {

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

// `data` may be null: CUPTI 13 gives its callback of cuInit none.
void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data);

// Whether cuInit has returned: until then no other thread may call the driver or CUPTI.
[[nodiscard]] bool cuda_is_ready();
// Where CUPTI is attached to a program that has long initialised CUDA.
void note_cuda_is_ready();

}  // namespace llmprof::collector
