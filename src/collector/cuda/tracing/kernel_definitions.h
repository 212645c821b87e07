#pragma once

#include <cstdint>

#include "wire/cuda_records.h"

// Kernels with the same name, shape, queue and graph node are defined once per log. For code that
// holds a DeviceChunk: one thread at a time.
namespace llmprof::collector {

// The definition's key; `fresh` if it is not in this log yet. `definition.key` is filled in. The
// name is compared by content: its memory may be reused.
wire::DefinitionKey kernel_key(wire::KernelDefinition& definition, const char* name, bool& fresh);
wire::DefinitionKey memory_key(wire::MemoryDefinition& definition, bool& fresh);

}  // namespace llmprof::collector
