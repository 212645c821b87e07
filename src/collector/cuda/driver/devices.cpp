#include "collector/cuda/driver/devices.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

#include "collector/cuda/driver/find_function.h"

namespace llmprof::collector {
namespace {

struct DeviceCalls {
  decltype(cuDeviceGetCount)* count = nullptr;
  decltype(cuDeviceGetPCIBusId)* pci_bus_id = nullptr;
  decltype(cuDeviceGetUuid_v2)* uuid = nullptr;
  decltype(cuDevicePrimaryCtxGetState)* context_state = nullptr;
};

constinit DeviceCalls driver = {};

void find_driver() {
  // The one that the program has loaded, or none.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return;
  find_function(library, "cuDeviceGetCount", driver.count);
  find_function(library, "cuDeviceGetPCIBusId", driver.pci_bus_id);
  find_function(library, "cuDeviceGetUuid_v2", driver.uuid);
  find_function(library, "cuDevicePrimaryCtxGetState", driver.context_state);
}

constinit uint32_t seen = 0;

int ordinal(uint32_t device) { return static_cast<int>(device); }

}  // namespace

uint32_t find_devices() {
  find_driver();
  int count = 0;
  if (driver.count == nullptr || driver.count(&count) != CUDA_SUCCESS || count < 0) return 0;
  const auto all = static_cast<uint32_t>(count);
  seen = all < kMaxDevices ? all : kMaxDevices;
  return seen;
}

bool device_in_use(uint32_t device) {
  if (driver.context_state == nullptr || seen == 1) return true;
  unsigned flags = 0;
  int active = 0;
  // A device and its ordinal are the same number.
  return driver.context_state(ordinal(device), &flags, &active) == CUDA_SUCCESS && active != 0;
}

bool pci_bus_id(uint32_t device, char (&id)[kDeviceNameBytes]) {
  return driver.pci_bus_id != nullptr &&
         driver.pci_bus_id(id, sizeof id, ordinal(device)) == CUDA_SUCCESS;
}

bool device_uuid(uint32_t device, char (&id)[kDeviceNameBytes]) {
  CUuuid uuid{};
  if (driver.uuid == nullptr || driver.uuid(&uuid, ordinal(device)) != CUDA_SUCCESS) return false;
  constexpr size_t kGroupEnds[] = {4, 6, 8, 10};
  auto length = static_cast<size_t>(snprintf(id, sizeof id, "GPU-"));
  size_t group = 0;
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const bool dash = group < sizeof kGroupEnds / sizeof *kGroupEnds && i == kGroupEnds[group];
    if (dash) ++group;
    length +=
        static_cast<size_t>(snprintf(id + length, sizeof id - length, "%s%02x", dash ? "-" : "",
                                     static_cast<unsigned char>(uuid.bytes[i])));
  }
  return true;
}

}  // namespace llmprof::collector
