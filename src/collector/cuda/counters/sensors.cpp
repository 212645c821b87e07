#include "collector/cuda/counters/sensors.h"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "collector/clock.h"
#include "collector/cuda/counters/counters.h"
#include "collector/cuda/counters/sampler_off.h"
#include "collector/cuda/counters/sampler_records.h"
#include "collector/cuda/driver/devices.h"
#include "collector/cuda/driver/nvml.h"

namespace llmprof::collector {
namespace {

constexpr int64_t kEvery = 1'000'000'000;
// The driver has new values that often, and reading energy takes some milliseconds.
constexpr int64_t kRefresh = 100'000'000;

constexpr double kThousandth = 1e-3;
constexpr double kNotAvailable = __builtin_nan("");

// In the order of read_all.
constexpr const char* kNames[] = {"sm_clock",    "memory_clock",     "power",
                                  "temperature", "throttle_reasons", "energy"};
constexpr const char* kUnits[] = {"MHz", "MHz", "W", "C", "mask", "J"};

struct SensedDevice {
  bool asked = false;             // NVML, for its handle
  Nvml::Device handle = nullptr;  // null: NVML does not know it
  uint32_t set = 0;
};

constinit bool wanted = false;
constinit uint32_t devices = 0;
constinit char library[PATH_MAX] = {};
constinit Nvml nvml = {};
constinit bool loaded = false;
constinit SensedDevice sensed[kMostDevices] = {};
constinit int64_t last_reading = INT64_MIN / 2;
constinit std::atomic<bool> asked = false;

Nvml::Device find_device(uint32_t device) {
  Nvml::Device handle = nullptr;
  char id[kDeviceNameBytes] = {};
  if (pci_bus_id(device, id) && nvml.device_by_pci_bus_id != nullptr &&
      nvml.device_by_pci_bus_id(id, &handle) == Nvml::kSuccess) {
    return handle;
  }
  if (device_uuid(device, id) && nvml.device_by_uuid != nullptr &&
      nvml.device_by_uuid(id, &handle) == Nvml::kSuccess) {
    return handle;
  }
  return nullptr;
}

double clock_of(Nvml::Device device, unsigned type) {
  unsigned megahertz = 0;
  const bool known =
      nvml.clock != nullptr && nvml.clock(device, type, &megahertz) == Nvml::kSuccess;
  return known ? megahertz : kNotAvailable;
}

double power_of(Nvml::Device device) {
  unsigned milliwatts = 0;
  const bool known = nvml.power != nullptr && nvml.power(device, &milliwatts) == Nvml::kSuccess;
  return known ? milliwatts * kThousandth : kNotAvailable;
}

double temperature_of(Nvml::Device device) {
  unsigned celsius = 0;
  const bool known = nvml.temperature != nullptr &&
                     nvml.temperature(device, Nvml::kGpuTemperature, &celsius) == Nvml::kSuccess;
  return known ? celsius : kNotAvailable;
}

double throttling_of(Nvml::Device device) {
  unsigned long long bits = 0;
  const bool known =
      nvml.throttle_reasons != nullptr && nvml.throttle_reasons(device, &bits) == Nvml::kSuccess;
  return known ? static_cast<double>(bits) : kNotAvailable;
}

double energy_of(Nvml::Device device) {
  unsigned long long millijoules = 0;
  const bool known = nvml.energy != nullptr && nvml.energy(device, &millijoules) == Nvml::kSuccess;
  return known ? static_cast<double>(millijoules) * kThousandth : kNotAvailable;
}

void read_all(const SensedDevice& device) {
  // The slow one first, so that all are of the same moment.
  const double energy = energy_of(device.handle);
  const int64_t now = now_ns();
  const double values[] = {clock_of(device.handle, Nvml::kSmClock),
                           clock_of(device.handle, Nvml::kMemoryClock),
                           power_of(device.handle),
                           temperature_of(device.handle),
                           throttling_of(device.handle),
                           energy};
  static_assert(std::size(values) == std::size(kNames) && std::size(kNames) == std::size(kUnits));
  write_counter_sample(device.set, {now, now}, values, std::size(values));
}

void read_device(uint32_t ordinal) {
  SensedDevice& device = sensed[ordinal];
  if (!device.asked) {
    if (!device_in_use(ordinal)) return;
    device.asked = true;
    device.handle = find_device(ordinal);
    if (device.handle == nullptr) return;
    device.set = write_counter_set(ordinal, 0, {kNames, kUnits, std::size(kNames)});
  }
  if (device.handle != nullptr) read_all(device);
}

bool load() {
  if (loaded) return true;
  loaded = load_nvml(library, nvml);
  if (loaded) return true;
  wanted = false;
  tell_nvml_missing();
  return false;
}

bool is_due() {
  const int64_t age = now_ns() - last_reading;
  return age >= kEvery || (age >= kRefresh && asked.load(std::memory_order_relaxed));
}

}  // namespace

void prepare_sensors(bool are_wanted, uint32_t visible) {
  wanted = are_wanted;
  devices = visible;
  const char* named = secure_getenv("LLMPROF_NVML");
  if (named != nullptr) std::memcpy(library, named, strnlen(named, sizeof library - 1));
}

void read_sensors_where_due() {
  if (!wanted || !is_due() || !load()) return;
  asked.store(false, std::memory_order_relaxed);
  last_reading = now_ns();
  for (uint32_t device = 0; device < devices; ++device) read_device(device);
}

void ask_for_sensors() { asked.store(true, std::memory_order_relaxed); }

}  // namespace llmprof::collector
