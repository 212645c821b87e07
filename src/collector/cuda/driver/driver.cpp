#include "collector/cuda/driver/driver.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/driver/nvml.h"
#include "collector/environment.h"
#include "collector/ranks.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

// The driver functions that the collector calls; libcuda is loaded, since it called us.
#define LLMPROF_DRIVER_FUNCTIONS(FUNCTION)            \
  FUNCTION(version, cuDriverGetVersion)               \
  FUNCTION(count, cuDeviceGetCount)                   \
  FUNCTION(get, cuDeviceGet)                          \
  FUNCTION(name, cuDeviceGetName)                     \
  FUNCTION(attribute, cuDeviceGetAttribute)           \
  FUNCTION(total_memory, cuDeviceTotalMem_v2)         \
  FUNCTION(uuid, cuDeviceGetUuid_v2)                  \
  FUNCTION(pci_bus_id, cuDeviceGetPCIBusId)           \
  FUNCTION(context_state, cuDevicePrimaryCtxGetState) \
  FUNCTION(synchronize, cuCtxSynchronize)

struct DriverFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names cannot be in parentheses
#define LLMPROF_DECLARE(field, name) decltype(name)* field = nullptr;
  LLMPROF_DRIVER_FUNCTIONS(LLMPROF_DECLARE)
#undef LLMPROF_DECLARE

  // Functions stay null if this driver lacks them, or the program has loaded no driver.
  void load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == nullptr) return;
#define LLMPROF_FIND(field, name) find_function(library, #name, field);
    LLMPROF_DRIVER_FUNCTIONS(LLMPROF_FIND)
#undef LLMPROF_FIND
  }

  [[nodiscard]] bool describes_devices() const {
    return version != nullptr && count != nullptr && get != nullptr && name != nullptr &&
           attribute != nullptr && total_memory != nullptr;
  }

  [[nodiscard]] uint64_t value(CUdevice_attribute what, CUdevice device) const {
    int found = 0;
    return attribute(&found, what, device) == CUDA_SUCCESS && found > 0
               ? static_cast<uint64_t>(found)
               : 0;
  }
};

// For the thread that samples counters.
constinit DriverFunctions driver_of_counters = {};
constinit uint32_t seen = 0;

int ordinal(uint32_t device) { return static_cast<int>(device); }

// Double data rate: two transfers per cycle of the memory clock, which is in kHz.
uint64_t bandwidth(const DriverFunctions& functions, CUdevice device) {
  constexpr uint64_t kTransfers = 2;
  constexpr uint64_t kHertz = 1000;
  constexpr uint64_t kBits = 8;
  return kTransfers * kHertz * functions.value(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device) *
         (functions.value(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device) / kBits);
}

void write_device(const DriverFunctions& functions, int ordinal) {
  constexpr uint64_t kHertz = 1000;
  CUdevice device = 0;
  if (functions.get(&device, ordinal) != CUDA_SUCCESS) return;
  wire::CudaDevice facts{};
  facts.ordinal = static_cast<uint32_t>(ordinal);
  facts.sm_count =
      static_cast<uint32_t>(functions.value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  size_t memory = 0;
  if (functions.total_memory(&memory, device) == CUDA_SUCCESS) facts.memory_bytes = memory;
  facts.memory_bandwidth = bandwidth(functions, device);
  facts.clock_hz = kHertz * functions.value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  facts.capability_major =
      static_cast<uint32_t>(functions.value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  facts.capability_minor =
      static_cast<uint32_t>(functions.value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CUuuid uuid{};
  if (functions.uuid != nullptr && functions.uuid(&uuid, device) == CUDA_SUCCESS) {
    std::memcpy(facts.uuid, uuid.bytes, sizeof facts.uuid);
  }
  functions.name(facts.name, static_cast<int>(sizeof facts.name) - 1, device);
  write_device_record(wire::RecordType::cuda_device, facts);
}

bool write_uuid(const DriverFunctions& functions, uint32_t device, char (&id)[kDeviceNameBytes]) {
  CUuuid uuid{};
  if (functions.uuid == nullptr || functions.uuid(&uuid, ordinal(device)) != CUDA_SUCCESS)
    return false;
  auto length = static_cast<size_t>(snprintf(id, sizeof id, "GPU-"));
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    length +=
        static_cast<size_t>(snprintf(id + length, sizeof id - length, "%s%02x", dash ? "-" : "",
                                     static_cast<unsigned char>(uuid.bytes[i])));
  }
  return true;
}

bool find_in_file(const char* path, char (&version)[kDriverVersionBytes]) {
  char text[512];
  return read_front(path, text, sizeof text) > 0 && find_version(text, version);
}

bool ask_nvml(char (&version)[kDriverVersionBytes]) {
  Nvml nvml;
  return nvml.load(secure_getenv("LLMPROF_NVML")) && nvml.driver_version != nullptr &&
         nvml.driver_version(version, sizeof version) == Nvml::kSuccess && version[0] != '\0';
}

}  // namespace

uint32_t find_devices() {
  driver_of_counters.load();
  int count = 0;
  if (driver_of_counters.count == nullptr || driver_of_counters.count(&count) != CUDA_SUCCESS ||
      count < 0)
    return 0;
  seen = std::min(static_cast<uint32_t>(count), kMaxDevices);
  return seen;
}

bool device_in_use(uint32_t device) {
  if (driver_of_counters.context_state == nullptr || seen == 1) return true;
  unsigned flags = 0;
  int active = 0;
  // A device and its ordinal are the same number.
  return driver_of_counters.context_state(ordinal(device), &flags, &active) == CUDA_SUCCESS &&
         active != 0;
}

bool pci_bus_id(uint32_t device, char (&id)[kDeviceNameBytes]) {
  return driver_of_counters.pci_bus_id != nullptr &&
         driver_of_counters.pci_bus_id(id, sizeof id, ordinal(device)) == CUDA_SUCCESS;
}

bool device_uuid(uint32_t device, char (&id)[kDeviceNameBytes]) {
  return write_uuid(driver_of_counters, device, id);
}

uint32_t visible_devices(VisibleDevice (&devices)[kMaxDevices]) {
  DriverFunctions functions;
  functions.load();
  int found = 0;
  if (functions.count == nullptr || functions.count(&found) != CUDA_SUCCESS || found < 0) return 0;
  const uint32_t count = std::min(static_cast<uint32_t>(found), kMaxDevices);
  for (uint32_t device = 0; device < count; ++device) {
    write_uuid(functions, device, devices[device].uuid);
    unsigned flags = 0;
    int active = 0;
    devices[device].in_use =
        count == 1 || functions.context_state == nullptr ||
        (functions.context_state(ordinal(device), &flags, &active) == CUDA_SUCCESS && active != 0);
  }
  return count;
}

void synchronize_context() {
  DriverFunctions functions;
  functions.load();
  if (functions.synchronize != nullptr) functions.synchronize();
}

void write_driver_facts(bool may_ask_nvml) {
  static constinit bool written = false;
  if (written) return;
  DriverFunctions functions;
  functions.load();
  int devices = 0;
  if (!functions.describes_devices() || functions.count(&devices) != CUDA_SUCCESS) return;
  written = true;
  int version = 0;
  functions.version(&version);
  const wire::StringKey path = cupti_version() == 0 ? 0 : text_key(cupti_path());
  char kernel_driver[kDriverVersionBytes] = {};
  const wire::StringKey kernel_driver_key =
      read_driver_version(may_ask_nvml, kernel_driver) ? text_key(kernel_driver) : 0;
  write_device_record(wire::RecordType::cuda_session,
                      wire::CudaSession{now_ns(), static_cast<uint32_t>(version), cupti_version(),
                                        path, kernel_driver_key});
  for (int i = 0; i < devices; ++i) write_device(functions, i);
  // An engine may have set its worker's rank since the log was started.
  write_rank_facts();
}

bool read_driver_version(bool may_ask_nvml, char (&version)[kDriverVersionBytes]) {
  return find_in_file("/sys/module/nvidia/version", version) ||
         find_in_file("/proc/driver/nvidia/version", version) ||
         (may_ask_nvml && ask_nvml(version));
}

}  // namespace llmprof::collector
