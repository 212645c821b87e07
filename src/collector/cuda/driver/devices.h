#pragma once

#include <cstddef>
#include <cstdint>

// The GPUs that are visible to the program, according to the CUDA driver in this process.
namespace llmprof::collector {

inline constexpr uint32_t kMaxDevices = 8;  // more are not sampled

// How many, at most kMaxDevices; 0 if there is no driver. To be called before the others.
uint32_t find_devices();

// Whether the program uses it. A process of a distributed job sees several and uses one; another
// process samples the next. True if the driver does not tell, or if there is only one.
[[nodiscard]] bool device_in_use(uint32_t device);

inline constexpr size_t kDeviceNameBytes = 48;
// How NVML identifies the device: "0000:00:06.0", "GPU-739f9fdb-80c6-58f1-6ba1-94770d447aca". False
// if the driver does not tell.
bool pci_bus_id(uint32_t device, char (&id)[kDeviceNameBytes]);
bool device_uuid(uint32_t device, char (&id)[kDeviceNameBytes]);

}  // namespace llmprof::collector
