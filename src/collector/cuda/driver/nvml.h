#pragma once

#include <dlfcn.h>

#include <cstdint>

// The functions of NVML that the collector calls, declared here: not every CUDA toolkit contains
// nvml.h. The library comes with the driver.
namespace llmprof::collector {

// Null if the library lacks the function.
template <class Function>
void find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

struct Nvml {
  using Device = void*;  // nvmlDevice_t
  using Result = int;    // nvmlReturn_t

  static constexpr Result kSuccess = 0;
  static constexpr unsigned kSmClock = 1;         // NVML_CLOCK_SM
  static constexpr unsigned kMemoryClock = 2;     // NVML_CLOCK_MEM
  static constexpr unsigned kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU

  // nvmlMemory_t, nvmlMemory_v2_t, nvmlProcessInfo_t
  struct Memory {
    uint64_t total;
    uint64_t free;
    uint64_t used;
  };
  struct MemoryV2 {
    unsigned version;
    uint64_t total;
    uint64_t reserved;
    uint64_t free;
    uint64_t used;
  };
  struct Process {
    unsigned id;
    uint64_t bytes;  // UINT64_MAX: not available
    unsigned gpu_instance;
    unsigned compute_instance;
  };
  static constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24U;

  Result (*init)() = nullptr;
  Result (*driver_version)(char* version, unsigned bytes) = nullptr;
  Result (*count)(unsigned*) = nullptr;
  Result (*device_by_index)(unsigned, Device*) = nullptr;
  Result (*uuid)(Device, char* uuid, unsigned bytes) = nullptr;
  Result (*memory)(Device, Memory*) = nullptr;
  Result (*memory_v2)(Device, MemoryV2*) = nullptr;
  Result (*processes)(Device, unsigned* count, Process*) = nullptr;
  Result (*device_by_pci_bus_id)(const char* id, Device*) = nullptr;
  Result (*device_by_uuid)(const char* id, Device*) = nullptr;
  Result (*clock)(Device, unsigned type, unsigned* megahertz) = nullptr;
  Result (*power)(Device, unsigned* milliwatts) = nullptr;
  Result (*temperature)(Device, unsigned sensor, unsigned* celsius) = nullptr;
  // Bits of nvmlClocksEventReasons; the name before CUDA 12.2 is tried too.
  Result (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;
  Result (*energy)(Device,
                   unsigned long long* millijoules) = nullptr;  // since the driver was loaded

  // Opens `path`, or libnvidia-ml.so.1 if it is empty, and initializes it. False if there is none
  // or it fails. Functions that this version lacks stay null.
  bool load(const char* path) {
    const bool named = path != nullptr && path[0] != '\0';
    // Never closed: NVML has its own threads and state.
    void* library = dlopen(named ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    find_function(library, "nvmlInit_v2", init);
    find_function(library, "nvmlSystemGetDriverVersion", driver_version);
    find_function(library, "nvmlDeviceGetCount_v2", count);
    find_function(library, "nvmlDeviceGetHandleByIndex_v2", device_by_index);
    find_function(library, "nvmlDeviceGetUUID", uuid);
    find_function(library, "nvmlDeviceGetMemoryInfo", memory);
    find_function(library, "nvmlDeviceGetMemoryInfo_v2", memory_v2);
    find_function(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", device_by_pci_bus_id);
    find_function(library, "nvmlDeviceGetHandleByUUID", device_by_uuid);
    find_function(library, "nvmlDeviceGetClockInfo", clock);
    find_function(library, "nvmlDeviceGetPowerUsage", power);
    find_function(library, "nvmlDeviceGetTemperature", temperature);
    find_function(library, "nvmlDeviceGetCurrentClocksEventReasons", throttle_reasons);
    if (throttle_reasons == nullptr) {
      find_function(library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons);
    }
    find_function(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    return init != nullptr && init() == kSuccess;
  }
};

}  // namespace llmprof::collector
