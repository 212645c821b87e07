// The functions of NVML that the collector calls, for made-up GPUs: any bus ID and UUID is known,
// except those that contain the word "unknown". Energy grows by 2.5 J per reading, which takes
// FAKE_NVML_ENERGY_MS. What is used of the GPU's memory is in the file FAKE_GPU_MEMORY. Each
// reading of it adds a byte to the file FAKE_GPU_MEMORY_READINGS.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
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

void note_reading() {
  const char* path = std::getenv("FAKE_GPU_MEMORY_READINGS");
  const int file =
      path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, "r", 1) != 1) std::abort();
  close(file);
}

uint64_t used_memory() {
  const char* path = std::getenv("FAKE_GPU_MEMORY");
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  uint64_t used = 0;
  if (file < 0) return used;
  if (read(file, &used, sizeof used) != sizeof used) used = 0;
  close(file);
  return used;
}

// nvmlMemory_v2_t, nvmlProcessInfo_t
struct Memory {
  unsigned version;
  uint64_t total;
  uint64_t reserved;
  uint64_t free;
  uint64_t used;
};
struct Process {
  unsigned id;
  uint64_t bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

constexpr uint64_t kMiB = 1U << 20U;
constexpr uint64_t kTotal = 143'771 * kMiB;
constexpr uint64_t kReserved = 615 * kMiB;
constexpr uint64_t kOthers = 100 * kMiB;

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

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2] = {0, 1};
  *device = &devices[index];
  return success;
}

// The second GPU is the first that the fake driver has.
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned bytes) {
  const unsigned other = *static_cast<int*>(device) == 0 ? 1 : 0;
  const unsigned each = 0xA0 + 0x10 * other;
  std::snprintf(
      uuid, bytes, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", each,
      each, each, each, each, each, each, each, each, each, each, each, each, each, each, each);
  return success;
}

int nvmlDeviceGetMemoryInfo_v2(void* /*device*/, Memory* memory) {
  if (memory->version != (sizeof(Memory) | 2U << 24U)) return invalid_argument;
  const uint64_t used = used_memory() + kOthers;
  note_reading();
  *memory = {memory->version, kTotal, kReserved, kTotal - kReserved - used, used};
  return success;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, Process* processes) {
  const auto own = static_cast<unsigned>(getpid());
  processes[0] = {1, kOthers, 0, 0};
  processes[1] = {own, used_memory(), 0, 0};
  *count = used_memory() == 0 ? 1 : 2;
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
