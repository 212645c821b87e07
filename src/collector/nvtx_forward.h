#pragma once

#include <cstdint>

// Forwards ranges and marks to NVTX, so that a tool around the program (nsys, ncu) sees them in the
// domain "LLM". Does nothing if there is no tool, or if the collector was built without NVTX's
// headers.
namespace llmprof::collector {

// Once, before the others: creates the NVTX domain.
void begin_nvtx();
[[nodiscard]] bool nvtx_is_active();

// nsys's --capture-range=nvtx matches registered strings without further settings.
void* nvtx_register(const char* name);

// `handle` is nvtx_register's, or null: then the plain text is sent.
void nvtx_push(void* handle, const char* name);
void nvtx_pop();
uint64_t nvtx_start(void* handle, const char* name);
void nvtx_end(uint64_t range);
void nvtx_mark(void* handle, const char* name);

}  // namespace llmprof::collector
