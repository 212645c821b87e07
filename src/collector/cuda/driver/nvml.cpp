#include "collector/cuda/driver/nvml.h"

#include <dlfcn.h>

namespace llmprof::collector {
namespace {

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

void find_all(void* library, Nvml& nvml) {
  find(library, "nvmlInit_v2", nvml.init);
  find(library, "nvmlSystemGetDriverVersion", nvml.driver_version);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_pci_bus_id);
  find(library, "nvmlDeviceGetHandleByUUID", nvml.device_by_uuid);
  find(library, "nvmlDeviceGetClockInfo", nvml.clock);
  find(library, "nvmlDeviceGetPowerUsage", nvml.power);
  find(library, "nvmlDeviceGetTemperature", nvml.temperature);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle_reasons);
  if (nvml.throttle_reasons == nullptr) {
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons);
  }
  find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
}

}  // namespace

bool load_nvml(const char* path, Nvml& nvml) {
  const bool named = path != nullptr && path[0] != '\0';
  // Never closed: NVML has its own threads and state.
  void* library = dlopen(named ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  find_all(library, nvml);
  return nvml.init != nullptr && nvml.init() == Nvml::kSuccess;
}

}  // namespace llmprof::collector
