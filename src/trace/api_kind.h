#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::trace {

// What a GPU runtime or driver call does. Decided once per distinct name when a trace is frozen: no
// other code looks at API names. To support another vendor, extend only api_kind().
enum class ApiKind : uint8_t {
  other,
  launch,           // launches one kernel
  graph_launch,     // replays a CUDA graph
  synchronization,  // the calling thread waits for the GPU
  copy,             // asynchronous
  blocking_copy,    // the calling thread waits until it ends
  allocation,       // allocates or releases memory
  capture_begin,    // starts a graph capture: launches go into a CUDA graph
  capture_end,      // ends a graph capture
};

// Accepts CUDA runtime, CUDA driver and HIP names, with or without nsys's version suffix:
// "cudaLaunchKernel_v7000", "cuLaunchKernelEx", "hipLaunchKernel".
ApiKind api_kind(std::string_view name);

constexpr bool waits_for_gpu(ApiKind kind) {
  return kind == ApiKind::synchronization || kind == ApiKind::blocking_copy;
}

}  // namespace llmprof::trace
