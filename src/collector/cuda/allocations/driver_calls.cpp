// The functions of the CUDA driver that allocate GPU memory, or for which the driver takes some.
// The program finds those of this preloaded library first: each passes the call on and notes what
// it has done.
#include <cuda.h>

#include <cstddef>

#include "collector/cuda/allocations/allocation_events.h"
#include "collector/cuda/allocations/driver_symbols.h"

// NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses): the driver's names, which
// cannot be in parentheses

// Each exists once more for programs whose default stream is per thread; the header declares those
// only for such programs.
extern "C" {
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, CUstream stream, void** arguments,
                             void** extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* configuration, CUfunction function,
                               void** arguments, void** extra);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* executable, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters);
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status);
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags);
}

namespace llmprof::collector {
namespace {

using wire::MemoryAction;

// Of CUpti_ActivityMemoryKind.
constexpr uint32_t kPinned = 2;
constexpr uint32_t kDevice = 3;
constexpr uint32_t kManaged = 5;

template <class Function, class... Arguments>
CUresult pass_on(DriverSymbol& symbol, Arguments... arguments) {
  auto* function = reinterpret_cast<Function*>(symbol.get());
  return function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
}

// An allocation while a stream is captured becomes a node of a graph: nothing is allocated now.
template <class Function>
bool allocates_now(DriverSymbol& symbol, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return pass_on<Function>(symbol, stream, &status) != CUDA_SUCCESS ||
         status == CU_STREAM_CAPTURE_STATUS_NONE;
}
constinit DriverSymbol is_capturing{"cuStreamIsCapturing"};
constinit DriverSymbol is_capturing_per_thread{"cuStreamIsCapturing_ptsz"};

}  // namespace
}  // namespace llmprof::collector

using namespace llmprof::collector;  // NOLINT(google-build-using-namespace): only exports follow

// The real function and ours. `arguments` in parentheses; `before` and `after` are what to do.
#define LLMPROF_IN_FRONT_OF(name, parameters, arguments, before, after)                   \
  static constinit DriverSymbol real_##name{#name};                                       \
  extern "C" [[gnu::visibility("default")]] CUresult CUDAAPI name parameters {            \
    DriverCall call(__builtin_return_address(0));                                         \
    before;                                                                               \
    const CUresult result = pass_on<decltype(name)>(real_##name, LLMPROF_LIST arguments); \
    if (result == CUDA_SUCCESS && call.is_noted()) after;                                 \
    return result;                                                                        \
  }
#define LLMPROF_LIST(...) __VA_ARGS__
#define LLMPROF_NOTHING static_cast<void>(0)

LLMPROF_IN_FRONT_OF(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes),
                    LLMPROF_NOTHING, call.allocated(kDevice, *address, bytes))
LLMPROF_IN_FRONT_OF(cuMemAllocPitch_v2,
                    (CUdeviceptr * address, size_t* pitch, size_t width, size_t height,
                     unsigned element),
                    (address, pitch, width, height, element), LLMPROF_NOTHING,
                    call.allocated(kDevice, *address, *pitch* height))
LLMPROF_IN_FRONT_OF(cuMemFree_v2, (CUdeviceptr address), (address), call.begin_release();
                    CUmemoryPool pool = call.is_noted() ? pool_of(address) : nullptr,
                    call.released(kDevice, address, pool))
LLMPROF_IN_FRONT_OF(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags),
                    (address, bytes, flags), LLMPROF_NOTHING,
                    call.allocated(kManaged, *address, bytes))
LLMPROF_IN_FRONT_OF(cuMemHostAlloc, (void** address, size_t bytes, unsigned flags),
                    (address, bytes, flags), LLMPROF_NOTHING,
                    call.allocated(kPinned, reinterpret_cast<CUdeviceptr>(*address), bytes))
LLMPROF_IN_FRONT_OF(cuMemAllocHost_v2, (void** address, size_t bytes), (address, bytes),
                    LLMPROF_NOTHING,
                    call.allocated(kPinned, reinterpret_cast<CUdeviceptr>(*address), bytes))
LLMPROF_IN_FRONT_OF(cuMemFreeHost, (void* address), (address), call.begin_release(),
                    call.released(kPinned, reinterpret_cast<CUdeviceptr>(address)))

#define LLMPROF_STREAM_ORDERED(suffix, capturing)                                               \
  LLMPROF_IN_FRONT_OF(                                                                          \
      cuMemAllocAsync##suffix, (CUdeviceptr * address, size_t bytes, CUstream stream),          \
      (address, bytes, stream),                                                                 \
      const bool now = call.is_noted() &&                                                       \
                       allocates_now<decltype(cuStreamIsCapturing##suffix)>(capturing, stream), \
      if (now) call.allocated(kDevice, *address, bytes, pool_of(*address)))                     \
  LLMPROF_IN_FRONT_OF(                                                                          \
      cuMemAllocFromPoolAsync##suffix,                                                          \
      (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),                \
      (address, bytes, pool, stream),                                                           \
      const bool now = call.is_noted() &&                                                       \
                       allocates_now<decltype(cuStreamIsCapturing##suffix)>(capturing, stream), \
      if (now) call.allocated(kDevice, *address, bytes, pool))                                  \
  LLMPROF_IN_FRONT_OF(                                                                          \
      cuMemFreeAsync##suffix, (CUdeviceptr address, CUstream stream), (address, stream),        \
      const bool now = call.is_noted() &&                                                       \
                       allocates_now<decltype(cuStreamIsCapturing##suffix)>(capturing, stream); \
      call.begin_release(); CUmemoryPool pool = call.is_noted() ? pool_of(address) : nullptr,   \
                            if (now) call.released(kDevice, address, pool))
LLMPROF_STREAM_ORDERED(, is_capturing)
LLMPROF_STREAM_ORDERED(_ptsz, is_capturing_per_thread)

LLMPROF_IN_FRONT_OF(cuMemCreate,
                    (CUmemGenericAllocationHandle * handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags),
                    (handle, bytes, properties, flags), LLMPROF_NOTHING,
                    call.created(*handle, bytes, *properties))
LLMPROF_IN_FRONT_OF(cuMemMap,
                    (CUdeviceptr address, size_t bytes, size_t offset,
                     CUmemGenericAllocationHandle handle, unsigned long long flags),
                    (address, bytes, offset, handle, flags), LLMPROF_NOTHING,
                    call.mapped(address, bytes, handle))
LLMPROF_IN_FRONT_OF(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes),
                    call.begin_release(), call.unmapped(address, bytes))
LLMPROF_IN_FRONT_OF(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle),
                    call.begin_release(), call.released_handle(handle))
LLMPROF_IN_FRONT_OF(cuMemRetainAllocationHandle,
                    (CUmemGenericAllocationHandle * handle, void* address), (handle, address),
                    LLMPROF_NOTHING, call.retained_handle(*handle))

LLMPROF_IN_FRONT_OF(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps* properties),
                    (pool, properties), LLMPROF_NOTHING, call.created_pool(*pool, *properties))
LLMPROF_IN_FRONT_OF(cuMemPoolDestroy, (CUmemoryPool pool), (pool), forget_pool(pool),
                    call.destroyed_pool(pool))
LLMPROF_IN_FRONT_OF(cuMemPoolTrimTo, (CUmemoryPool pool, size_t kept), (pool, kept),
                    LLMPROF_NOTHING, call.trimmed_pool(pool))

// Code is loaded by these, or lazily by the first launch of a function.
#define LLMPROF_LOADS_CODE(name, parameters, arguments)             \
  LLMPROF_IN_FRONT_OF(name, parameters, arguments, LLMPROF_NOTHING, \
                      call.driver_took_memory(MemoryAction::module_loaded))
LLMPROF_LOADS_CODE(cuModuleLoad, (CUmodule * code, const char* path), (code, path))
LLMPROF_LOADS_CODE(cuModuleLoadData, (CUmodule * code, const void* image), (code, image))
LLMPROF_LOADS_CODE(cuModuleLoadDataEx,
                   (CUmodule * code, const void* image, unsigned count, CUjit_option* options,
                    void** values),
                   (code, image, count, options, values))
LLMPROF_LOADS_CODE(cuModuleLoadFatBinary, (CUmodule * code, const void* image), (code, image))
LLMPROF_LOADS_CODE(cuModuleGetFunction, (CUfunction * function, CUmodule code, const char* name),
                   (function, code, name))
LLMPROF_LOADS_CODE(cuLibraryLoadData,
                   (CUlibrary * library, const void* code, CUjit_option* options, void** values,
                    unsigned count, CUlibraryOption* library_options, void** library_values,
                    unsigned library_count),
                   (library, code, options, values, count, library_options, library_values,
                    library_count))
LLMPROF_LOADS_CODE(cuLibraryLoadFromFile,
                   (CUlibrary * library, const char* path, CUjit_option* options, void** values,
                    unsigned count, CUlibraryOption* library_options, void** library_values,
                    unsigned library_count),
                   (library, path, options, values, count, library_options, library_values,
                    library_count))
LLMPROF_LOADS_CODE(cuLibraryGetModule, (CUmodule * code, CUlibrary library), (code, library))
LLMPROF_LOADS_CODE(cuKernelGetFunction, (CUfunction * function, CUkernel kernel),
                   (function, kernel))

#define LLMPROF_LAUNCHES(suffix)                                                                  \
  LLMPROF_IN_FRONT_OF(                                                                            \
      cuLaunchKernel##suffix,                                                                     \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                \
       void** arguments, void** extra),                                                           \
      (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,         \
       arguments, extra),                                                                         \
      LLMPROF_NOTHING,                                                                            \
      if (is_first_launch(function)) call.driver_took_memory(MemoryAction::module_loaded))        \
  LLMPROF_IN_FRONT_OF(                                                                            \
      cuLaunchKernelEx##suffix,                                                                   \
      (const CUlaunchConfig* configuration, CUfunction function, void** arguments, void** extra), \
      (configuration, function, arguments, extra), LLMPROF_NOTHING,                               \
      if (is_first_launch(function)) call.driver_took_memory(MemoryAction::module_loaded))
LLMPROF_LAUNCHES()
LLMPROF_LAUNCHES(_ptsz)

LLMPROF_IN_FRONT_OF(cuGraphInstantiateWithFlags,
                    (CUgraphExec * executable, CUgraph graph, unsigned long long flags),
                    (executable, graph, flags), LLMPROF_NOTHING,
                    call.driver_took_memory(MemoryAction::graph_instantiated))
#define LLMPROF_INSTANTIATES(name)                                                                 \
  LLMPROF_IN_FRONT_OF(                                                                             \
      name, (CUgraphExec * executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS * parameters), \
      (executable, graph, parameters), LLMPROF_NOTHING,                                            \
      call.driver_took_memory(MemoryAction::graph_instantiated))
LLMPROF_INSTANTIATES(cuGraphInstantiateWithParams)
LLMPROF_INSTANTIATES(cuGraphInstantiateWithParams_ptsz)

// Programs ask the driver for its functions, also for this one itself.
static constinit DriverSymbol real_cuGetProcAddress_v2{"cuGetProcAddress_v2"};
extern "C" [[gnu::visibility("default")]] CUresult CUDAAPI
cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult* status) {
  const CUresult result = pass_on<decltype(cuGetProcAddress_v2)>(real_cuGetProcAddress_v2, symbol,
                                                                 function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr && wants_driver_calls()) {
    *function = in_front_of(*function);
  }
  return result;
}
static constinit DriverSymbol real_cuGetProcAddress{"cuGetProcAddress"};
extern "C" [[gnu::visibility("default")]] CUresult CUDAAPI cuGetProcAddress(const char* symbol,
                                                                            void** function,
                                                                            int version,
                                                                            cuuint64_t flags) {
  const CUresult result =
      pass_on<decltype(cuGetProcAddress)>(real_cuGetProcAddress, symbol, function, version, flags);
  if (result == CUDA_SUCCESS && function != nullptr && wants_driver_calls()) {
    *function = in_front_of(*function);
  }
  return result;
}

#define LLMPROF_EACH(ENTRY)                \
  ENTRY(cuMemAlloc_v2)                     \
  ENTRY(cuMemAllocPitch_v2)                \
  ENTRY(cuMemFree_v2)                      \
  ENTRY(cuMemAllocManaged)                 \
  ENTRY(cuMemHostAlloc)                    \
  ENTRY(cuMemAllocHost_v2)                 \
  ENTRY(cuMemFreeHost)                     \
  ENTRY(cuMemAllocAsync)                   \
  ENTRY(cuMemAllocFromPoolAsync)           \
  ENTRY(cuMemFreeAsync)                    \
  ENTRY(cuMemAllocAsync_ptsz)              \
  ENTRY(cuMemAllocFromPoolAsync_ptsz)      \
  ENTRY(cuMemFreeAsync_ptsz)               \
  ENTRY(cuMemCreate)                       \
  ENTRY(cuMemMap)                          \
  ENTRY(cuMemUnmap)                        \
  ENTRY(cuMemRelease)                      \
  ENTRY(cuMemRetainAllocationHandle)       \
  ENTRY(cuMemPoolCreate)                   \
  ENTRY(cuMemPoolDestroy)                  \
  ENTRY(cuMemPoolTrimTo)                   \
  ENTRY(cuModuleLoad)                      \
  ENTRY(cuModuleLoadData)                  \
  ENTRY(cuModuleLoadDataEx)                \
  ENTRY(cuModuleLoadFatBinary)             \
  ENTRY(cuModuleGetFunction)               \
  ENTRY(cuLibraryLoadData)                 \
  ENTRY(cuLibraryLoadFromFile)             \
  ENTRY(cuLibraryGetModule)                \
  ENTRY(cuKernelGetFunction)               \
  ENTRY(cuLaunchKernel)                    \
  ENTRY(cuLaunchKernelEx)                  \
  ENTRY(cuLaunchKernel_ptsz)               \
  ENTRY(cuLaunchKernelEx_ptsz)             \
  ENTRY(cuGraphInstantiateWithFlags)       \
  ENTRY(cuGraphInstantiateWithParams)      \
  ENTRY(cuGraphInstantiateWithParams_ptsz) \
  ENTRY(cuGetProcAddress_v2)               \
  ENTRY(cuGetProcAddress)
// NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses)

void* llmprof::collector::in_front_of(void* function) {
  if (function == nullptr) return nullptr;
#define LLMPROF_COMPARE(name) \
  if (function == real_##name.get()) return reinterpret_cast<void*>(name);
  LLMPROF_EACH(LLMPROF_COMPARE)
#undef LLMPROF_COMPARE
  return function;
}
