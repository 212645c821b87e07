// Allocates GPU memory in every way by which programs reach the driver. Between its steps it waits
// until the GPU's memory was read, which the file FAKE_GPU_MEMORY_READINGS shows.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kMiB = 1U << 20U;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: %d\n", what, static_cast<int>(result));
  std::exit(1);
}

off_t readings() {
  const char* path = std::getenv("FAKE_GPU_MEMORY_READINGS");
  struct stat file{};
  return path != nullptr && stat(path, &file) == 0 ? file.st_size : 0;
}

// A reading counts if nothing changes for 5 ms before and after it.
void wait_for_reading() {
  constexpr useconds_t kTurn = 10'000;
  constexpr int kTurns = 3000;
  const char* path = std::getenv("FAKE_GPU_MEMORY_READINGS");
  if (path == nullptr || *path == '\0') return;
  usleep(kTurn);
  const off_t before = readings();
  for (int turn = 0; turn < kTurns && readings() == before; ++turn) usleep(kTurn);
  usleep(kTurn);
}

void* library() { return dlopen("libcuda.so.1", RTLD_LAZY); }

// As the CUDA runtime does: it asks the driver for all of its functions, that one included.
template <class Function>
Function* of_driver(const char* name) {
  using Ask = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  auto* first = reinterpret_cast<Ask>(dlsym(library(), "cuGetProcAddress_v2"));
  void* found = nullptr;
  check(first("cuGetProcAddress", &found, CUDA_VERSION, 0, nullptr), "cuGetProcAddress");
  auto* ask = reinterpret_cast<Ask>(found);
  check(ask(name, &found, CUDA_VERSION, 0, nullptr), name);
  return reinterpret_cast<Function*>(found);
}

template <class Handle>
Handle handle(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

void allocate_and_free() {
  CUdeviceptr linked = 0;
  CUdeviceptr looked_up = 0;
  CUdeviceptr asked_for = 0;
  check(cuMemAlloc(&linked, 100 * kMiB), "linked");
  auto* by_name = reinterpret_cast<decltype(cuMemAlloc)*>(dlsym(library(), "cuMemAlloc_v2"));
  check(by_name(&looked_up, 1000), "looked up");
  check(of_driver<decltype(cuMemAlloc)>("cuMemAlloc")(&asked_for, 40 * kMiB), "asked for");
  wait_for_reading();
  check(of_driver<decltype(cuMemFree)>("cuMemFree")(asked_for), "free");
}

void use_a_pool() {
  CUdeviceptr kept = 0;
  CUdeviceptr freed = 0;
  auto* allocate = of_driver<decltype(cuMemAllocAsync)>("cuMemAllocAsync");
  check(allocate(&kept, 10 * kMiB, nullptr), "pool");
  check(allocate(&freed, 30 * kMiB, nullptr), "pool");
  check(of_driver<decltype(cuMemFreeAsync)>("cuMemFreeAsync")(freed, nullptr), "free in pool");
  wait_for_reading();
  check(of_driver<decltype(cuStreamSynchronize)>("cuStreamSynchronize")(nullptr), "synchronize");
  CUdeviceptr of_graph = 0;
  check(allocate(&of_graph, 70 * kMiB, handle<CUstream>(7)), "captured");
}

void map_memory() {
  CUmemGenericAllocationHandle physical = 0;
  CUmemAllocationProp properties{};
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  auto* create = of_driver<decltype(cuMemCreate)>("cuMemCreate");
  check(create(&physical, 64 * kMiB, &properties, 0), "create");
  check(cuMemMap(uint64_t{2} << 40U, 64 * kMiB, 0, physical, 0), "map");
}

void take_memory_of_the_driver() {
  auto* launch = of_driver<decltype(cuLaunchKernel)>("cuLaunchKernel");
  for (int i = 0; i < 3; ++i) {
    check(launch(handle<CUfunction>(5), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "launch");
  }
  wait_for_reading();
  CUgraphExec executable = nullptr;
  check(of_driver<decltype(cuGraphInstantiateWithFlags)>("cuGraphInstantiate")(
            &executable, handle<CUgraph>(9), 0),
        "graph");
}

// To look up the next one after the program itself, the loader must know who asks: a preloaded
// library comes next.
void look_up_the_next() {
  if (dlsym(RTLD_NEXT, "cuMemAlloc_v2") == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2")) return;
  std::fputs("RTLD_NEXT was not relative to the program\n", stderr);
  std::exit(1);
}

}  // namespace

int main() {
  look_up_the_next();
  check(cuInit(0), "cuInit");
  allocate_and_free();
  use_a_pool();
  map_memory();
  take_memory_of_the_driver();
  wait_for_reading();
  std::puts("done");
  return 0;
}
