#include "collector/cuda/counters/counters.h"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "collector/cuda/counters/samples.h"
#include "collector/cuda/driver/driver.h"
#include "collector/cuda/driver/nvml.h"
#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constexpr int64_t kEvery = 1'000'000'000;
// The driver updates the values this often, and reading energy takes some milliseconds.
constexpr int64_t kRefresh = 100'000'000;

constexpr double kThousandth = 1e-3;
constexpr double kNotAvailable = __builtin_nan("");

// In the order of read_all.
constexpr const char* kNames[] = {"sm_clock",    "memory_clock",     "power",
                                  "temperature", "throttle_reasons", "energy"};
constexpr const char* kUnits[] = {"MHz", "MHz", "W", "C", "mask", "J"};

struct SensedDevice {
  bool asked = false;             // NVML was queried for its handle
  Nvml::Device handle = nullptr;  // null: NVML does not know it
  uint32_t set = 0;
};

// Used by one thread, except for the request.
struct Sensors {
  bool wanted = false;
  double share = 0;  // maximum share of the time for readings; 0: no limit
  uint32_t devices = 0;
  char library[PATH_MAX] = {};
  Nvml nvml;
  bool loaded = false;
  SensedDevice sensed[kMaxDevices] = {};
  int64_t last_reading = INT64_MIN / 2;
  int64_t longest = 0;  // reading, ns: the driver delays the program's calls meanwhile
  std::atomic<bool> requested = false;
};
constinit Sensors sensors;

Nvml::Device find_device(uint32_t device) {
  Nvml::Device handle = nullptr;
  char id[kDeviceNameBytes] = {};
  if (pci_bus_id(device, id) && sensors.nvml.device_by_pci_bus_id != nullptr &&
      sensors.nvml.device_by_pci_bus_id(id, &handle) == Nvml::kSuccess) {
    return handle;
  }
  if (device_uuid(device, id) && sensors.nvml.device_by_uuid != nullptr &&
      sensors.nvml.device_by_uuid(id, &handle) == Nvml::kSuccess) {
    return handle;
  }
  return nullptr;
}

// The scaled result of function(device, which..., &value), or kNotAvailable.
template <class Value, class Function, class... Which>
double read_value(Function* function, double scale, Nvml::Device device, Which... which) {
  Value value = 0;
  const bool known = function != nullptr && function(device, which..., &value) == Nvml::kSuccess;
  return known ? static_cast<double>(value) * scale : kNotAvailable;
}

void read_all(const SensedDevice& device) {
  // The slow one first, so that the others are read at the same moment.
  using Long = unsigned long long;
  const Nvml& nvml = sensors.nvml;
  Nvml::Device gpu = device.handle;
  const double energy = read_value<Long>(nvml.energy, kThousandth, gpu);
  const int64_t now = now_ns();
  const double values[] = {read_value<unsigned>(nvml.clock, 1, gpu, Nvml::kSmClock),
                           read_value<unsigned>(nvml.clock, 1, gpu, Nvml::kMemoryClock),
                           read_value<unsigned>(nvml.power, kThousandth, gpu),
                           read_value<unsigned>(nvml.temperature, 1, gpu, Nvml::kGpuTemperature),
                           read_value<Long>(nvml.throttle_reasons, 1, gpu),
                           energy};
  static_assert(std::size(values) == std::size(kNames) && std::size(kNames) == std::size(kUnits));
  write_counter_sample(device.set, {now, now}, values, std::size(values));
}

void read_device(uint32_t ordinal) {
  SensedDevice& device = sensors.sensed[ordinal];
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
  if (sensors.loaded) return true;
  sensors.loaded = sensors.nvml.load(sensors.library);
  if (sensors.loaded) return true;
  sensors.wanted = false;
  write_counters_off(
      "clocks, power, temperature and energy: NVML was not found or could not be initialized. It "
      "comes with the driver as libnvidia-ml.so.1 (in a container: "
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility); LLMPROF_NVML can name another path");
  return false;
}

bool is_due() {
  const int64_t age = now_ns() - sensors.last_reading;
  if (sensors.share > 0 &&
      static_cast<double>(age) * sensors.share < static_cast<double>(sensors.longest)) {
    return false;
  }
  return age >= kEvery || (age >= kRefresh && sensors.requested.load(std::memory_order_relaxed));
}

}  // namespace

void prepare_sensors(bool are_wanted, double share, uint32_t visible) {
  sensors.wanted = are_wanted;
  sensors.share = share;
  sensors.devices = visible;
  const char* named = secure_getenv("LLMPROF_NVML");
  if (named != nullptr)
    std::memcpy(sensors.library, named, strnlen(named, sizeof sensors.library - 1));
}

void read_sensors_if_due() {
  if (!sensors.wanted || !is_due() || !load()) return;
  sensors.requested.store(false, std::memory_order_relaxed);
  sensors.last_reading = now_ns();
  for (uint32_t device = 0; device < sensors.devices; ++device) read_device(device);
  const int64_t took = now_ns() - sensors.last_reading;
  if (took > sensors.longest) sensors.longest = took;
}

void request_sensors() { sensors.requested.store(true, std::memory_order_relaxed); }

}  // namespace llmprof::collector
