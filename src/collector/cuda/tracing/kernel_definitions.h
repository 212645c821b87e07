#pragma once

#include <cstdint>

#include "wire/cuda_records.h"

// Kernels that are alike in name, shape, queue and graph node are defined once a log. For code that
// holds a DeviceChunk: one thread at a time.
namespace llmprof::collector {

// The definition's key; `fresh` where it is not in this log yet. `definition.key` is filled in.
// The name is compared by content: its memory may have been another's.
wire::DefinitionKey kernel_key(wire::KernelDefinition& definition, const char* name, bool& fresh);
wire::DefinitionKey memory_key(wire::MemoryDefinition& definition, bool& fresh);

}  // namespace llmprof::collector
