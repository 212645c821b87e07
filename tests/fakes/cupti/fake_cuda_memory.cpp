// Allocations of the fake libcuda.so.1. What is used of the GPU's memory is written to the file
// FAKE_GPU_MEMORY, which the fake NVML reads: a context with the first allocation, then pages of
// 2 MiB.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr uint64_t kMiB = 1U << 20U;
constexpr uint64_t kPage = 2 * kMiB;
constexpr uint64_t kContext = 500 * kMiB;
constexpr uint64_t kFunctionCode = 4 * kMiB;  // loaded at the first launch
constexpr uint64_t kGraph = 6 * kMiB;

struct Gpu {
  std::mutex lock;
  uint64_t used = 0;
  uint64_t next = uint64_t{1} << 40U;
  uint64_t pool_reserved = 0;
  uint64_t pool_used = 0;
  std::map<CUdeviceptr, uint64_t> sizes;
  std::map<CUdeviceptr, uint64_t> in_pool;
  std::map<CUmemGenericAllocationHandle, uint64_t> handles;
  std::map<CUfunction, bool> launched;
};

Gpu& gpu() {
  static Gpu one;
  return one;
}

void change_used(int64_t bytes) {
  Gpu& it = gpu();
  if (it.used == 0) it.used = kContext;
  it.used += static_cast<uint64_t>(bytes);
  const char* path = std::getenv("FAKE_GPU_MEMORY");
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (pwrite(file, &it.used, sizeof it.used, 0) != sizeof it.used) std::abort();
  close(file);
}

int64_t pages(uint64_t bytes) { return static_cast<int64_t>((bytes + kPage - 1) / kPage * kPage); }

CUdeviceptr new_address(uint64_t bytes) {
  Gpu& it = gpu();
  const CUdeviceptr address = it.next;
  it.next += static_cast<uint64_t>(pages(bytes));
  return address;
}

// The stream with the number 7 is being captured.
bool is_captured(CUstream stream) {
  constexpr uintptr_t kCaptured = 7;
  return reinterpret_cast<uintptr_t>(stream) == kCaptured;
}

CUmemoryPool the_pool() {
  static int pool = 0;
  return reinterpret_cast<CUmemoryPool>(&pool);
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  const std::lock_guard locked(gpu().lock);
  *address = new_address(bytes);
  gpu().sizes[*address] = bytes;
  change_used(pages(bytes));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr address) {
  const std::lock_guard locked(gpu().lock);
  const auto found = gpu().sizes.find(address);
  if (found == gpu().sizes.end()) return CUDA_ERROR_INVALID_VALUE;
  change_used(-pages(found->second));
  gpu().sizes.erase(found);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  const std::lock_guard locked(gpu().lock);
  *address = new_address(bytes);
  if (is_captured(stream)) return CUDA_SUCCESS;
  gpu().in_pool[*address] = bytes;
  gpu().pool_used += bytes;
  if (gpu().pool_used > gpu().pool_reserved) {
    const int64_t more = pages(gpu().pool_used - gpu().pool_reserved);
    gpu().pool_reserved += static_cast<uint64_t>(more);
    change_used(more);
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream /*stream*/) {
  const std::lock_guard locked(gpu().lock);
  const auto found = gpu().in_pool.find(address);
  if (found == gpu().in_pool.end()) return CUDA_ERROR_INVALID_VALUE;
  gpu().pool_used -= found->second;
  gpu().in_pool.erase(found);
  return CUDA_SUCCESS;
}

// As with the driver's default threshold of 0, a pool keeps nothing unused.
CUresult CUDAAPI cuStreamSynchronize(CUstream /*stream*/) {
  const std::lock_guard locked(gpu().lock);
  const int64_t kept = pages(gpu().pool_used);
  change_used(kept - static_cast<int64_t>(gpu().pool_reserved));
  gpu().pool_reserved = static_cast<uint64_t>(kept);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice /*device*/) {
  *pool = the_pool();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool /*pool*/, CUmemPool_attribute which,
                                       void* value) {
  const std::lock_guard locked(gpu().lock);
  const bool reserved = which == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
  *static_cast<cuuint64_t*>(value) = reserved ? gpu().pool_reserved : gpu().pool_used;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuPointerGetAttribute(void* value, CUpointer_attribute which,
                                       CUdeviceptr address) {
  const std::lock_guard locked(gpu().lock);
  if (which == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
    *static_cast<CUmemoryPool*>(value) = gpu().in_pool.contains(address) ? the_pool() : nullptr;
    return CUDA_SUCCESS;
  }
  if (which != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<int*>(value) = 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = is_captured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                             const CUmemAllocationProp* /*properties*/,
                             unsigned long long /*flags*/) {
  const std::lock_guard locked(gpu().lock);
  *handle = 77 + gpu().handles.size();
  gpu().handles[*handle] = bytes;
  change_used(pages(bytes));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemMap(CUdeviceptr /*address*/, size_t /*bytes*/, size_t /*offset*/,
                          CUmemGenericAllocationHandle /*handle*/, unsigned long long /*flags*/) {
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned /*grid_x*/, unsigned /*grid_y*/,
                                unsigned /*grid_z*/, unsigned /*block_x*/, unsigned /*block_y*/,
                                unsigned /*block_z*/, unsigned /*shared*/, CUstream /*stream*/,
                                void** /*arguments*/, void** /*extra*/) {
  const std::lock_guard locked(gpu().lock);
  bool& launched = gpu().launched[function];
  if (!launched) change_used(kFunctionCode);
  launched = true;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                             unsigned long long /*flags*/) {
  const std::lock_guard locked(gpu().lock);
  *executable = reinterpret_cast<CUgraphExec>(graph);
  change_used(kGraph);
  return CUDA_SUCCESS;
}

// Gives the versions of CUDA 12 and later.
CUresult CUDAAPI cuGetProcAddress_v2(const char* symbol, void** function, int /*version*/,
                                     cuuint64_t /*flags*/,
                                     CUdriverProcAddressQueryResult* /*status*/) {
  const std::string name = symbol;
  const std::string exported = name == "cuGraphInstantiate" ? "cuGraphInstantiateWithFlags" : name;
  void* self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  *function = dlsym(self, (exported + "_v2").c_str());
  if (*function == nullptr) *function = dlsym(self, exported.c_str());
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
