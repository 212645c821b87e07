#include "collector/cuda/driver/driver_facts.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

#include "collector/clock.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/driver/driver_version.h"
#include "collector/cuda/driver/find_function.h"
#include "collector/device_records.h"
#include "collector/rank_facts.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

// libcuda is loaded: it called us.
struct DriverCalls {
  decltype(&cuDriverGetVersion) version = nullptr;
  decltype(&cuDeviceGetCount) count = nullptr;
  decltype(&cuDeviceGet) get = nullptr;
  decltype(&cuDeviceGetName) name = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuDeviceTotalMem) total_memory = nullptr;
  decltype(&cuDeviceGetUuid) uuid = nullptr;

  bool load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return false;
    find_function(library, "cuDriverGetVersion", version);
    find_function(library, "cuDeviceGetCount", count);
    find_function(library, "cuDeviceGet", get);
    find_function(library, "cuDeviceGetName", name);
    find_function(library, "cuDeviceGetAttribute", attribute);
    find_function(library, "cuDeviceTotalMem_v2", total_memory);
    find_function(library, "cuDeviceGetUuid_v2", uuid);
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

// Double data rate: two transfers per cycle of the memory clock, which is in kHz.
uint64_t bandwidth(const DriverCalls& driver, CUdevice device) {
  constexpr uint64_t kTransfers = 2;
  constexpr uint64_t kHertz = 1000;
  constexpr uint64_t kBits = 8;
  return kTransfers * kHertz * driver.value(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device) *
         (driver.value(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device) / kBits);
}

void write_device(const DriverCalls& driver, int ordinal) {
  constexpr uint64_t kHertz = 1000;
  CUdevice device = 0;
  if (driver.get(&device, ordinal) != CUDA_SUCCESS) return;
  wire::CudaDevice facts{};
  facts.ordinal = static_cast<uint32_t>(ordinal);
  facts.sm_count =
      static_cast<uint32_t>(driver.value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  size_t memory = 0;
  if (driver.total_memory(&memory, device) == CUDA_SUCCESS) facts.memory_bytes = memory;
  facts.memory_bandwidth = bandwidth(driver, device);
  facts.clock_hz = kHertz * driver.value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  facts.capability_major =
      static_cast<uint32_t>(driver.value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  facts.capability_minor =
      static_cast<uint32_t>(driver.value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CUuuid uuid{};
  if (driver.uuid != nullptr && driver.uuid(&uuid, device) == CUDA_SUCCESS) {
    std::memcpy(facts.uuid, uuid.bytes, sizeof facts.uuid);
  }
  driver.name(facts.name, static_cast<int>(sizeof facts.name) - 1, device);
  write_device_record(wire::RecordType::cuda_device, facts);
}

}  // namespace

void synchronize_context() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  auto* synchronize = reinterpret_cast<CUresult (*)()>(dlsym(library, "cuCtxSynchronize"));
  if (synchronize != nullptr) synchronize();
}

void write_driver_facts(bool may_ask_nvml) {
  static constinit bool written = false;
  DriverCalls driver;
  int devices = 0;
  if (written || !driver.load() || driver.count(&devices) != CUDA_SUCCESS) return;
  written = true;
  int version = 0;
  driver.version(&version);
  const wire::StringKey path = cupti_version() == 0 ? 0 : text_key(cupti_path());
  char kernel_driver[kDriverVersionBytes] = {};
  const wire::StringKey kernel_driver_key =
      read_driver_version(may_ask_nvml, kernel_driver) ? text_key(kernel_driver) : 0;
  write_device_record(wire::RecordType::cuda_session,
                      wire::CudaSession{now_ns(), static_cast<uint32_t>(version), cupti_version(),
                                        path, kernel_driver_key});
  for (int i = 0; i < devices; ++i) write_device(driver, i);
  // An engine may have set its worker's rank since the log began.
  write_rank_facts();
}

}  // namespace llmprof::collector
