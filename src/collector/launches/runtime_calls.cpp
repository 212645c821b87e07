// The functions of CUDA's runtime (libcudart.so) that launch GPU work or wait for it, as a
// preloaded library offers them in front of the real ones: each notes the call and passes it on.
#include "collector/launches/host_calls.h"
#include "collector/launches/real_function.h"

namespace llmprof::collector {
namespace {

using Result = int;  // cudaError_t
constexpr Result kUnknownError = 999;

// dim3, passed by value.
struct Extent {
  unsigned x, y, z;
};

template <class... Arguments>
Result pass_on(RealFunction& real, const void* caller, Arguments... arguments) {
  auto* function = reinterpret_cast<Result (*)(Arguments...)>(real.seen_from(caller));
  return function == nullptr ? kUnknownError : function(arguments...);
}

template <class... Arguments>
Result launch(RealFunction& real, const void* caller, HostCallKind kind, const void* handle,
              Arguments... arguments) {
  const OutermostCall call;
  if (call.is_watched()) note_launch(kind, reinterpret_cast<uintptr_t>(handle));
  return pass_on(real, caller, arguments...);
}

template <class... Arguments>
Result wait(RealFunction& real, const void* caller, Arguments... arguments) {
  const OutermostCall call;
  if (!call.is_watched()) return pass_on(real, caller, arguments...);
  const int64_t start = now_ns();
  const Result result = pass_on(real, caller, arguments...);
  note_wait(HostCallKind::wait, start);
  return result;
}

}  // namespace
}  // namespace llmprof::collector

using llmprof::collector::Extent;
using llmprof::collector::HostCallKind;
using llmprof::collector::RealFunction;

// The names are CUDA's. Each exists once more for programs whose default stream is per thread.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
#define LLMPROF_REAL(name) static constinit RealFunction real(#name)
#define LLMPROF_CALLER __builtin_return_address(0)

#define LLMPROF_LAUNCH_KERNEL(name)                                                               \
  extern "C" [[gnu::visibility("default")]] int name(const void* kernel, Extent grid,             \
                                                     Extent block, void** arguments,              \
                                                     size_t shared_bytes, void* stream) {         \
    LLMPROF_REAL(name);                                                                           \
    return llmprof::collector::launch(real, LLMPROF_CALLER, HostCallKind::kernel, kernel, kernel, \
                                      grid, block, arguments, shared_bytes, stream);              \
  }
LLMPROF_LAUNCH_KERNEL(cudaLaunchKernel)
LLMPROF_LAUNCH_KERNEL(cudaLaunchKernel_ptsz)
LLMPROF_LAUNCH_KERNEL(__cudaLaunchKernel)
LLMPROF_LAUNCH_KERNEL(__cudaLaunchKernel_ptsz)
LLMPROF_LAUNCH_KERNEL(cudaLaunchCooperativeKernel)
LLMPROF_LAUNCH_KERNEL(cudaLaunchCooperativeKernel_ptsz)

#define LLMPROF_LAUNCH_CONFIGURED(name)                                                      \
  extern "C" [[gnu::visibility("default")]] int name(const void* configuration,              \
                                                     const void* kernel, void** arguments) { \
    LLMPROF_REAL(name);                                                                      \
    return llmprof::collector::launch(real, LLMPROF_CALLER, HostCallKind::kernel, kernel,    \
                                      configuration, kernel, arguments);                     \
  }
LLMPROF_LAUNCH_CONFIGURED(cudaLaunchKernelExC)
LLMPROF_LAUNCH_CONFIGURED(cudaLaunchKernelExC_ptsz)

#define LLMPROF_LAUNCH_GRAPH(name)                                                             \
  extern "C" [[gnu::visibility("default")]] int name(void* graph, void* stream) {              \
    LLMPROF_REAL(name);                                                                        \
    return llmprof::collector::launch(real, LLMPROF_CALLER, HostCallKind::graph, graph, graph, \
                                      stream);                                                 \
  }
LLMPROF_LAUNCH_GRAPH(cudaGraphLaunch)
LLMPROF_LAUNCH_GRAPH(cudaGraphLaunch_ptsz)

#define LLMPROF_WAIT_FOR(name)                                     \
  extern "C" [[gnu::visibility("default")]] int name(void* what) { \
    LLMPROF_REAL(name);                                            \
    return llmprof::collector::wait(real, LLMPROF_CALLER, what);   \
  }
LLMPROF_WAIT_FOR(cudaStreamSynchronize)
LLMPROF_WAIT_FOR(cudaStreamSynchronize_ptsz)
LLMPROF_WAIT_FOR(cudaEventSynchronize)

extern "C" [[gnu::visibility("default")]] int cudaDeviceSynchronize() {
  LLMPROF_REAL(cudaDeviceSynchronize);
  return llmprof::collector::wait(real, LLMPROF_CALLER);
}

#define LLMPROF_COPY_AND_WAIT(name)                                                            \
  extern "C" [[gnu::visibility("default")]] int name(void* to, const void* from, size_t bytes, \
                                                     int direction) {                          \
    LLMPROF_REAL(name);                                                                        \
    return llmprof::collector::wait(real, LLMPROF_CALLER, to, from, bytes, direction);         \
  }
LLMPROF_COPY_AND_WAIT(cudaMemcpy)
LLMPROF_COPY_AND_WAIT(cudaMemcpy_ptds)
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
