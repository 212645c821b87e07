// The functions of CUDA's runtime (libcudart.so) that launch GPU work or wait for it. The program
// finds those of this preloaded library first: each notes the call and passes it on.
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

// A call of the program on its way to the real function.
class Passing {
 public:
  Passing(RealFunction& real, const void* caller) : real_(real), caller_(caller) {}

  template <class... Arguments>
  Result launch(HostCallKind kind, const void* handle, Arguments... arguments) {
    const OutermostCall call;
    if (call.is_timed()) note_launch(kind, reinterpret_cast<uintptr_t>(handle));
    return pass_on(arguments...);
  }

  template <class... Arguments>
  Result wait(Arguments... arguments) {
    const OutermostCall call;
    if (!call.is_timed()) return pass_on(arguments...);
    const int64_t start = now_ns();
    const Result result = pass_on(arguments...);
    note_wait(HostCallKind::wait, start);
    return result;
  }

 private:
  template <class... Arguments>
  Result pass_on(Arguments... arguments) {
    auto* function = reinterpret_cast<Result (*)(Arguments...)>(real_.seen_from(caller_));
    return function == nullptr ? kUnknownError : function(arguments...);
  }

  RealFunction& real_;
  const void* caller_;
};

}  // namespace
}  // namespace llmprof::collector

using llmprof::collector::Extent;
using llmprof::collector::HostCallKind;
using llmprof::collector::Passing;
using llmprof::collector::RealFunction;

// The names are CUDA's. Each exists once more for programs whose default stream is per thread.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
#define LLMPROF_IN_FRONT_OF(name, parameters, call)               \
  extern "C" [[gnu::visibility("default")]] int name parameters { \
    static constinit RealFunction real(#name);                    \
    return Passing(real, __builtin_return_address(0)).call;       \
  }

#define LLMPROF_LAUNCH_KERNEL(name)                                                          \
  LLMPROF_IN_FRONT_OF(                                                                       \
      name,                                                                                  \
      (const void* kernel, Extent grid, Extent block, void** arguments, size_t shared_bytes, \
       void* stream),                                                                        \
      launch(HostCallKind::kernel, kernel, kernel, grid, block, arguments, shared_bytes, stream))
LLMPROF_LAUNCH_KERNEL(cudaLaunchKernel)
LLMPROF_LAUNCH_KERNEL(cudaLaunchKernel_ptsz)
LLMPROF_LAUNCH_KERNEL(__cudaLaunchKernel)
LLMPROF_LAUNCH_KERNEL(__cudaLaunchKernel_ptsz)
LLMPROF_LAUNCH_KERNEL(cudaLaunchCooperativeKernel)
LLMPROF_LAUNCH_KERNEL(cudaLaunchCooperativeKernel_ptsz)

#define LLMPROF_LAUNCH_CONFIGURED(name)                                                        \
  LLMPROF_IN_FRONT_OF(name, (const void* configuration, const void* kernel, void** arguments), \
                      launch(HostCallKind::kernel, kernel, configuration, kernel, arguments))
LLMPROF_LAUNCH_CONFIGURED(cudaLaunchKernelExC)
LLMPROF_LAUNCH_CONFIGURED(cudaLaunchKernelExC_ptsz)

#define LLMPROF_LAUNCH_GRAPH(name)                       \
  LLMPROF_IN_FRONT_OF(name, (void* graph, void* stream), \
                      launch(HostCallKind::graph, graph, graph, stream))
LLMPROF_LAUNCH_GRAPH(cudaGraphLaunch)
LLMPROF_LAUNCH_GRAPH(cudaGraphLaunch_ptsz)

LLMPROF_IN_FRONT_OF(cudaStreamSynchronize, (void* stream), wait(stream))
LLMPROF_IN_FRONT_OF(cudaStreamSynchronize_ptsz, (void* stream), wait(stream))
LLMPROF_IN_FRONT_OF(cudaEventSynchronize, (void* event), wait(event))
LLMPROF_IN_FRONT_OF(cudaDeviceSynchronize, (), wait())

#define LLMPROF_COPY_AND_WAIT(name)                                                    \
  LLMPROF_IN_FRONT_OF(name, (void* to, const void* from, size_t bytes, int direction), \
                      wait(to, from, bytes, direction))
LLMPROF_COPY_AND_WAIT(cudaMemcpy)
LLMPROF_COPY_AND_WAIT(cudaMemcpy_ptds)
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
