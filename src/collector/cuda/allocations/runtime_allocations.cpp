// The functions of CUDA's runtime (libcudart.so) that allocate GPU memory: each notes which library
// calls, since the driver is then called by the runtime.
#include <cstddef>

#include "collector/cuda/allocations/allocation_events.h"
#include "collector/launches/real_function.h"

namespace llmprof::collector {
namespace {

using RuntimeResult = int;  // cudaError_t
constexpr RuntimeResult kNoRuntime = 999;

template <class... Arguments>
RuntimeResult allocate(RealFunction& real, const void* caller, Arguments... arguments) {
  const AllocatingCall call(caller);
  auto* function = reinterpret_cast<RuntimeResult (*)(Arguments...)>(real.seen_from(caller));
  return function == nullptr ? kNoRuntime : function(arguments...);
}

}  // namespace
}  // namespace llmprof::collector

// NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses): the runtime's names
#define LLMPROF_IN_FRONT_OF(name, parameters, ...)                                       \
  extern "C" [[gnu::visibility("default")]] int name parameters {                        \
    static constinit llmprof::collector::RealFunction real(#name);                       \
    return llmprof::collector::allocate(real, __builtin_return_address(0), __VA_ARGS__); \
  }

LLMPROF_IN_FRONT_OF(cudaMalloc, (void** address, size_t bytes), address, bytes)
LLMPROF_IN_FRONT_OF(cudaMallocManaged, (void** address, size_t bytes, unsigned flags), address,
                    bytes, flags)
LLMPROF_IN_FRONT_OF(cudaMallocPitch, (void** address, size_t* pitch, size_t width, size_t height),
                    address, pitch, width, height)
LLMPROF_IN_FRONT_OF(cudaMallocHost, (void** address, size_t bytes), address, bytes)
LLMPROF_IN_FRONT_OF(cudaHostAlloc, (void** address, size_t bytes, unsigned flags), address, bytes,
                    flags)
#define LLMPROF_STREAM_ORDERED(suffix)                                                          \
  LLMPROF_IN_FRONT_OF(cudaMallocAsync##suffix, (void** address, size_t bytes, void* stream),    \
                      address, bytes, stream)                                                   \
  LLMPROF_IN_FRONT_OF(cudaMallocFromPoolAsync##suffix,                                          \
                      (void** address, size_t bytes, void* pool, void* stream), address, bytes, \
                      pool, stream)
LLMPROF_STREAM_ORDERED()
LLMPROF_STREAM_ORDERED(_ptsz)
// NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses)
