#include "collector/cuda/driver/memory_readings.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/cuda/driver/driver.h"
#include "collector/cuda/driver/nvml.h"
#include "collector/environment.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

using wire::MemoryReading;
using wire::MemoryReadingMoment;

constexpr unsigned kMostGpus = 64;
constexpr unsigned kMostProcesses = 64;

// A GPU of the machine. The program may see only some of them, under other numbers.
struct Gpu {
  Nvml::Device handle = nullptr;
  char uuid[kDeviceNameBytes] = {};
  MemoryReading before = {};  // total_bytes is 0: it could not be read
};

// Used by one thread at a time.
struct Readings {
  Nvml nvml;
  unsigned count = 0;
  Gpu gpus[kMostGpus] = {};
  bool began[kMaxDevices] = {};  // `before` is in the log
  int64_t latest = 0;            // when it was read last
  int64_t change_seen = 0;       // the change that the last reading includes
  std::atomic<bool> first_is_done = false;
};
constinit Readings readings;

// Whether free, used and reserved sum to the total differs between versions of NVML: what is used
// without the reserved memory follows from the total.
bool read_figures(Nvml::Device gpu, MemoryReading& reading) {
  Nvml::MemoryV2 figures{};
  figures.version = Nvml::kMemoryV2;
  if (readings.nvml.memory_v2 != nullptr &&
      readings.nvml.memory_v2(gpu, &figures) == Nvml::kSuccess) {
    reading.total_bytes = figures.total;
    reading.free_bytes = figures.free;
    reading.reserved_bytes = figures.reserved;
    reading.used_bytes = figures.total - figures.free - figures.reserved;
    return figures.total != 0 && figures.free + figures.reserved <= figures.total;
  }
  Nvml::Memory old{};
  if (readings.nvml.memory == nullptr || readings.nvml.memory(gpu, &old) != Nvml::kSuccess) {
    return false;
  }
  reading.total_bytes = old.total;
  reading.free_bytes = old.free;
  reading.used_bytes = old.total - old.free;
  return old.total != 0 && old.free <= old.total;
}

// Other processes are known if NVML states the bytes of all. In a container it may list processes
// by numbers of the host: then this one is not among them.
void read_processes(Nvml::Device gpu, MemoryReading& reading) {
  reading.own_bytes = wire::kUnknownBytes;
  reading.other_bytes = wire::kUnknownBytes;
  unsigned count = kMostProcesses;
  Nvml::Process processes[kMostProcesses] = {};
  if (readings.nvml.processes == nullptr ||
      readings.nvml.processes(gpu, &count, processes) != Nvml::kSuccess) {
    return;
  }
  const bool before = reading.moment == MemoryReadingMoment::before_context;
  bool listed = before;
  uint64_t own = 0;
  uint64_t others = 0;
  for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
    if (processes[i].bytes == wire::kUnknownBytes) return;
    const bool ours = processes[i].id == static_cast<unsigned>(getpid());
    listed = listed || ours;
    (ours ? own : others) += processes[i].bytes;
  }
  if (!listed) return;
  reading.own_bytes = own;
  reading.other_bytes = others;
}

MemoryReading read_gpu(Nvml::Device gpu, MemoryReadingMoment moment) {
  MemoryReading reading{};
  reading.time = now_ns();
  reading.moment = moment;
  if (read_figures(gpu, reading)) {
    read_processes(gpu, reading);
  } else {
    reading.total_bytes = 0;
  }
  return reading;
}

void write(MemoryReading reading, uint32_t device) {
  if (reading.total_bytes == 0) return;
  reading.device = device;
  write_device_record(wire::RecordType::memory_reading, reading);
}

Gpu* find_gpu(const char* uuid) {
  for (unsigned i = 0; i < readings.count; ++i) {
    if (std::strcmp(readings.gpus[i].uuid, uuid) == 0) return &readings.gpus[i];
  }
  return nullptr;
}

void read_devices(MemoryReadingMoment moment) {
  readings.latest = now_ns();
  VisibleDevice devices[kMaxDevices];
  const uint32_t count = visible_devices(devices);
  for (uint32_t device = 0; device < count; ++device) {
    const Gpu* gpu = devices[device].in_use ? find_gpu(devices[device].uuid) : nullptr;
    if (gpu == nullptr) continue;
    if (!readings.began[device]) {
      readings.began[device] = true;
      write(gpu->before, device);
    }
    write(read_gpu(gpu->handle, moment), device);
  }
}

void find_gpus() {
  const Nvml& nvml = readings.nvml;
  unsigned count = 0;
  if (nvml.count == nullptr || nvml.device_by_index == nullptr || nvml.uuid == nullptr ||
      nvml.count(&count) != Nvml::kSuccess) {
    return;
  }
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Gpu& gpu = readings.gpus[readings.count];
    if (nvml.device_by_index(i, &gpu.handle) != Nvml::kSuccess ||
        nvml.uuid(gpu.handle, gpu.uuid, sizeof gpu.uuid) != Nvml::kSuccess) {
      continue;
    }
    gpu.before = read_gpu(gpu.handle, MemoryReadingMoment::before_context);
    ++readings.count;
  }
}

}  // namespace

void read_memory_before_context() {
  if (readings.nvml.load(secure_getenv("LLMPROF_NVML"))) find_gpus();
  if (readings.count == 0) {
    constexpr char kNoNvml[] =
        "the GPUs' memory was not read: NVML was not found or names no GPU. It comes with the "
        "driver as libnvidia-ml.so.1 (in a container: "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility); LLMPROF_NVML can name another path";
    write_device_record(wire::RecordType::memory_off,
                        wire::MemoryOff{now_ns(), text_key(kNoNvml), 0});
  }
  readings.first_is_done.store(true, std::memory_order_release);
}

void wait_for_memory_reading() {
  constexpr int kTurns = 300;
  constexpr useconds_t kTurn = 1000;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (readings.first_is_done.load(std::memory_order_acquire)) return;
    usleep(kTurn);
  }
}

void read_memory_if_due(int64_t last_change) {
  constexpr int64_t kSettled = 20'000'000;
  constexpr int64_t kMostOften = 100'000'000;
  constexpr int64_t kAtLeast = 1'000'000'000;
  if (readings.count == 0) return;
  const int64_t now = now_ns();
  if (readings.latest == 0) readings.latest = now;
  const int64_t age = now - readings.latest;
  const bool changed = last_change != readings.change_seen && now - last_change >= kSettled;
  if (age < kAtLeast && (age < kMostOften || !changed)) return;
  readings.change_seen = last_change;
  read_devices(MemoryReadingMoment::running);
}

void read_memory_at_end() {
  if (readings.count > 0) read_devices(MemoryReadingMoment::end);
}

}  // namespace llmprof::collector
