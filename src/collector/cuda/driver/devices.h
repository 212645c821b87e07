#pragma once

#include <cstddef>
#include <cstdint>

// The GPUs that the program sees, as the CUDA driver in this process tells of them.
namespace llmprof::collector {

inline constexpr uint32_t kMostDevices = 8;  // more are not sampled

// How many, at most kMostDevices; 0 where there is no driver. To be called before the others.
uint32_t find_devices();

// Whether the program uses it. Of several that it sees a process of a distributed job uses one, and
// another process samples the next. True where the driver does not tell, and for the only one.
[[nodiscard]] bool device_in_use(uint32_t device);

inline constexpr size_t kDeviceNameBytes = 48;
// How NVML knows the device: "0000:00:06.0", "GPU-739f9fdb-80c6-58f1-6ba1-94770d447aca". False
// where the driver does not tell.
bool pci_bus_id(uint32_t device, char (&id)[kDeviceNameBytes]);
bool device_uuid(uint32_t device, char (&id)[kDeviceNameBytes]);

}  // namespace llmprof::collector
