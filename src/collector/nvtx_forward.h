#pragma once

#include <cstdint>

// Hands ranges and marks on to NVTX, so that a tool that watches the program (nsys, ncu) sees them
// in its domain "LLM". Does nothing where no tool does, or where the collector was built without
// NVTX's headers.
namespace llmprof::collector {

// Once, before the others: asks NVTX for the domain.
void begin_nvtx();
[[nodiscard]] bool nvtx_watches();

// Registered strings are what nsys's --capture-range=nvtx matches without further ado.
void* nvtx_register(const char* name);

// `handle` is nvtx_register's, or null: then the plain text is sent.
void nvtx_push(void* handle, const char* name);
void nvtx_pop();
uint64_t nvtx_start(void* handle, const char* name);
void nvtx_end(uint64_t range);
void nvtx_mark(void* handle, const char* name);

}  // namespace llmprof::collector
