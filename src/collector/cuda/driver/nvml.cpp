#include "collector/cuda/driver/nvml.h"

#include <dlfcn.h>

namespace llmprof::collector {
namespace {

void find_all(void* library, Nvml& nvml) {
  find_function(library, "nvmlInit_v2", nvml.init);
  find_function(library, "nvmlSystemGetDriverVersion", nvml.driver_version);
  find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_pci_bus_id);
  find_function(library, "nvmlDeviceGetHandleByUUID", nvml.device_by_uuid);
  find_function(library, "nvmlDeviceGetClockInfo", nvml.clock);
  find_function(library, "nvmlDeviceGetPowerUsage", nvml.power);
  find_function(library, "nvmlDeviceGetTemperature", nvml.temperature);
  find_function(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle_reasons);
  if (nvml.throttle_reasons == nullptr) {
    find_function(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons);
  }
  find_function(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
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
