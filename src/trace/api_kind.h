#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::trace {

// What a call of a GPU runtime or driver does, decided once per distinct name when a trace is
// frozen: nothing else looks at API names. Another vendor's names are added to api_kind alone.
enum class ApiKind : uint8_t {
  other,
  launch,           // of one kernel
  graph_launch,     // replays a CUDA graph
  synchronization,  // the calling thread waits for the GPU
  copy,             // asynchronous
  blocking_copy,    // the calling thread waits for its end
  allocation,       // or release of memory
  capture_begin,    // launches go into a CUDA graph from here on,
  capture_end,      // to here
};

// Names of CUDA's runtime and driver and of HIP, with or without nsys's version suffix:
// "cudaLaunchKernel_v7000", "cuLaunchKernelEx", "hipLaunchKernel".
ApiKind api_kind(std::string_view name);

constexpr bool waits_for_gpu(ApiKind kind) {
  return kind == ApiKind::synchronization || kind == ApiKind::blocking_copy;
}

}  // namespace llmprof::trace
