#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// The GPUs that are visible to the program, according to the CUDA driver in this process.
namespace llmprof::collector {

inline constexpr uint32_t kMaxDevices = 8;  // more are not sampled

// Returns their number, at most kMaxDevices; 0 if there is no driver. Call it before the others.
uint32_t find_devices();

// Whether the program uses it. A process of a distributed job sees several GPUs and uses one; other
// processes sample the others. True if the driver does not report it, or if there is only one.
[[nodiscard]] bool device_in_use(uint32_t device);

inline constexpr size_t kDeviceNameBytes = 48;
// How NVML identifies the device: "0000:00:06.0", "GPU-739f9fdb-80c6-58f1-6ba1-94770d447aca". False
// if the driver does not report it.
bool pci_bus_id(uint32_t device, char (&id)[kDeviceNameBytes]);
bool device_uuid(uint32_t device, char (&id)[kDeviceNameBytes]);

// The same devices for any thread, once cuInit has returned.
struct VisibleDevice {
  char uuid[kDeviceNameBytes] = {};  // as NVML writes it; empty: not reported
  bool in_use = false;
};
uint32_t visible_devices(VisibleDevice (&devices)[kMaxDevices]);

// Writes the properties of the driver and its devices, and the current rank variables: once per
// process, after cuInit has returned. One thread at a time. `may_ask_nvml` only on the collector's
// own thread: NVML is slow.
void write_driver_facts(bool may_ask_nvml);

// Waits for the program's GPU work, if this thread has a context.
void synchronize_context();

inline constexpr size_t kDriverVersionBytes = 80;  // NVML's, with the terminating 0

// The version of NVIDIA's kernel driver, such as 580.95.05, from the kernel's files; if they are
// missing (WSL) and `may_ask_nvml` is set, from NVML. False if it is unknown.
bool read_driver_version(bool may_ask_nvml, char (&version)[kDriverVersionBytes]);

// The first word of `text` that is numbers with dots between them, as in the line "NVRM version:
// NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build". False if there is none.
inline bool find_version(const char* text, char (&version)[kDriverVersionBytes]) {
  constexpr const char* kSpace = " \t\r\n";
  constexpr const char* kDigits = "0123456789";
  constexpr const char* kVersion = "0123456789.";
  for (text += std::strspn(text, kSpace); *text != '\0'; text += std::strspn(text, kSpace)) {
    const size_t length = std::strcspn(text, kSpace);
    const size_t first = std::strspn(text, kDigits);
    if (first > 0 && text[first] == '.' && std::strspn(text, kVersion) == length &&
        length < kDriverVersionBytes) {
      std::memcpy(version, text, length);
      version[length] = '\0';
      return true;
    }
    text += length;
  }
  return false;
}

}  // namespace llmprof::collector
