#pragma once

#include <cupti.h>

// What CUPTI tells of contexts and graphs as the program makes them.
namespace llmprof::collector {

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData& data);

// Whether a context was seen: counters have nothing to count before.
[[nodiscard]] bool context_exists();

}  // namespace llmprof::collector
