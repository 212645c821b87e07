// The functions of NVML that the collector calls, for made-up GPUs: any bus ID and UUID is known,
// except those that contain the word "unknown". Energy grows by 2.5 J per reading, which takes
// FAKE_NVML_ENERGY_MS.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

enum Result { success = 0, invalid_argument = 2, not_supported = 3, not_found = 6 };
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;

std::atomic<unsigned long long> millijoules{22'000'000};

int find(const char* id, void** device) {
  static int any = 0;
  *device = &any;
  return std::strstr(id, "unknown") == nullptr ? success : not_found;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVML's names
extern "C" {

int nvmlInit_v2() { return success; }

int nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  constexpr char kVersion[] = "580.95.05";
  if (bytes < sizeof kVersion) return invalid_argument;
  std::memcpy(version, kVersion, sizeof kVersion);
  return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) { return find(id, device); }
int nvmlDeviceGetHandleByUUID(const char* id, void** device) { return find(id, device); }

int nvmlDeviceGetClockInfo(void* /*device*/, unsigned type, unsigned* megahertz) {
  constexpr unsigned kSm = 1980;
  constexpr unsigned kMemory = 3201;
  *megahertz = type == kSmClock ? kSm : kMemory;
  return type == kSmClock || type == kMemoryClock ? success : invalid_argument;
}

int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* milliwatts) {
  constexpr unsigned kPower = 145'250;
  *milliwatts = kPower;
  return success;
}

// Like a board without the sensor.
int nvmlDeviceGetTemperature(void* /*device*/, unsigned /*sensor*/, unsigned* /*celsius*/) {
  return not_supported;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* bits) {
  constexpr unsigned long long kPowerCap = 4;
  *bits = kPowerCap;
  return success;
}

int nvmlDeviceGetTotalEnergyConsumption(void* /*device*/, unsigned long long* energy) {
  constexpr unsigned long long kGrowth = 2'500;
  constexpr useconds_t kMicrosecondsPerMillisecond = 1'000;
  const char* milliseconds = std::getenv("FAKE_NVML_ENERGY_MS");
  if (milliseconds != nullptr) {
    usleep(static_cast<useconds_t>(std::atoi(milliseconds)) * kMicrosecondsPerMillisecond);
  }
  *energy = millijoules += kGrowth;
  return success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
