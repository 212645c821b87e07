#include "collector/cuda/counters/counters.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "collector/cuda/counters/pm_metrics.h"
#include "collector/cuda/counters/sampler.h"
#include "collector/cuda/counters/samples.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/cupti/pm_functions.h"
#include "collector/cuda/driver/driver.h"
#include "collector/environment.h"

namespace llmprof::collector {
namespace {

// Sentences for counters_off records: what is missing, why, and how to fix it.
constexpr size_t kSentenceBytes = 1024;
constexpr size_t kNameBytes = 64;

constexpr char kAdministratorsAlone[] =
    "the driver restricts counters to administrators (RmProfilingAdminOnly is 1). Run as root or "
    "with CAP_SYS_ADMIN (in a container: --cap-add=SYS_ADMIN), or allow them for all users: add "
    "the line \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" to "
    "/etc/modprobe.d/nvidia.conf and reload the driver";
constexpr char kVirtualNeedsPermission[] =
    "the hypervisor does not allow counters on this virtual GPU: its administrator can enable them "
    "with the vGPU setting enable_profiling=1";
constexpr char kBusy[] =
    "another program uses the GPU's counters (DCGM, nsys, ncu, another llmprof): stop it while "
    "this one runs, DCGM with \"dcgmi profile --pause\"";
constexpr char kNotSupported[] =
    "this GPU or its mode (vGPU, MIG, confidential computing, WSL) has no PM sampling; ncu may "
    "still be able to read its counters";
constexpr char kOldInterface[] =
    "the program itself uses CUPTI's older profiling API, which cannot be combined with PM "
    "sampling: run it without";

bool administrators_alone() {
  char text[8192];
  read_front("/proc/driver/nvidia/params", text, sizeof text);
  return std::strstr(text, "RmProfilingAdminOnly: 1") != nullptr && geteuid() != 0;
}

// Null if only CUPTI's result code is known.
const char* reason_of(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return kAdministratorsAlone;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return kVirtualNeedsPermission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return kBusy;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return kNotSupported;
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return kOldInterface;
    default:
      return administrators_alone() ? kAdministratorsAlone : nullptr;
  }
}

[[gnu::format(printf, 1, 2)]] void report(const char* format, ...) {
  char text[kSentenceBytes];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  write_counters_off(text);
}

// "GPU 0 (GH100)"; without the chip if it is unknown.
struct DeviceName {
  char text[kNameBytes];

  DeviceName(uint32_t ordinal, const char* chip) {
    const bool known = chip[0] != '\0';
    snprintf(text, sizeof text, "GPU %u%s%s%s", ordinal, known ? " (" : "", chip, known ? ")" : "");
  }
};

// Whether other devices of the machine will fail in the same way.
bool concerns_all_devices(PmFailure failure) {
  const char* reason = reason_of(failure.result);
  return reason == kAdministratorsAlone || reason == kOldInterface;
}

void report_sampling_failed(const DeviceName& device, PmFailure failure) {
  const int result = static_cast<int>(failure.result);
  if (const char* reason = reason_of(failure.result); reason != nullptr) {
    return report("%s: %s (%s: CUPTI result %d)", device.text, reason, failure.call, result);
  }
  report(
      "%s: %s failed with CUPTI result %d. Run again; if it persists, LLMPROF_COUNTERS=off "
      "disables counters",
      device.text, failure.call, result);
}

// Important quantities that the chip cannot sample, or not in one pass.
void report_missing_quantities(const DeviceName& device, const MetricChoice& choice) {
  const bool dram = has(choice, Quantity::dram_read) && has(choice, Quantity::dram_write);
  const bool tensor = has(choice, Quantity::tensor_active);
  if (dram && tensor) return;
  report("%s cannot sample %s%s%s; its other counters are recorded", device.text,
         dram ? "" : "DRAM bytes", dram || tensor ? "" : " and ", tensor ? "" : "tensor cycles");
}

// A sample with ten counters costs 70 us on our thread (H200): 1,000 per second use 7 % of one
// core, 10,000 most of it. Rounds sample twice as often, for a quarter of the time.
constexpr uint32_t kUsualHertz = 1000;
constexpr uint32_t kMoreInRounds = 2;
constexpr uint32_t kUsualHertzOfMany = 500;
constexpr uint32_t kFewDevices = 2;
constexpr uint32_t kMaxHertz = 10'000;
constexpr uint32_t kMinHertz = 10;

constexpr int64_t kDeviceCheckInterval = 250'000'000;

enum class State : uint8_t {
  not_chosen,
  ready,
  running,
  off,  // permanently
};

struct Slot {
  State state = State::not_chosen;
  Sampler sampler;
};

// The counters of this process, for the thread that prepared them.
struct Counters {
  std::atomic<bool> prepared = false;
  pid_t owner = 0;
  uint32_t devices = 0;
  uint32_t requested_hertz = 0;
  uint32_t hertz = 0;  // of the current round
  Slot slots[kMaxDevices] = {};
  bool wanted = false;  // between start and stop
  int64_t last_device_check = 0;
};
constinit Counters counters;

// CUPTI and driver objects do not survive a fork.
bool is_ours() {
  return counters.prepared.load(std::memory_order_acquire) && getpid() == counters.owner;
}

uint32_t choose_hertz(bool for_a_round) {
  if (counters.requested_hertz == 0) {
    const uint32_t usual = counters.devices <= kFewDevices ? kUsualHertz : kUsualHertzOfMany;
    return for_a_round ? usual * kMoreInRounds : usual;
  }
  return std::clamp(counters.requested_hertz, kMinHertz, kMaxHertz);
}

void give_up(uint32_t device, PmFailure failure) {
  report_sampling_failed({device, counters.slots[device].sampler.chip()}, failure);
  counters.slots[device].state = State::off;
  if (!concerns_all_devices(failure)) return;
  for (Slot& slot : counters.slots) {
    if (slot.state == State::not_chosen) slot.state = State::off;
  }
}

void choose(uint32_t device) {
  Slot& slot = counters.slots[device];
  if (const auto failure = slot.sampler.choose(device)) return give_up(device, failure);
  slot.state = State::ready;
  report_missing_quantities({device, slot.sampler.chip()}, slot.sampler.metrics());
}

void start(uint32_t device) {
  Slot& slot = counters.slots[device];
  if (slot.state != State::ready) return;
  if (const auto failure = slot.sampler.start(counters.hertz)) return give_up(device, failure);
  slot.state = State::running;
}

// A process of a distributed job sees all GPUs of its machine and uses one of them.
void start_devices_in_use() {
  counters.last_device_check = now_ns();
  for (uint32_t device = 0; device < counters.devices; ++device) {
    if (counters.slots[device].state == State::not_chosen && device_in_use(device)) choose(device);
    start(device);
  }
}

template <class End>
void end_running(const End& end) {
  if (!is_ours() || !counters.wanted) return;
  counters.wanted = false;
  for (Slot& slot : counters.slots) {
    if (slot.state != State::running) continue;
    end(slot.sampler);
    slot.state = State::ready;
  }
}

// False if it failed; the reason was reported.
bool find_sampling() {
  if (!load_cupti()) {
    write_counters_off("libcupti not found: set LLMPROF_CUPTI to its path");
    return false;
  }
  if (!pm.load()) {
    report(
        "%.512s (version %u) has no PM sampling, which came with CUDA 12.6: set LLMPROF_CUPTI to a "
        "newer libcupti",
        cupti_path(), cupti_version());
    return false;
  }
  // Without it, other CUPTI calls crash.
  const PmFailure failure = pm.initialize({});
  if (failure) give_up(0, failure);
  return !failure;
}

}  // namespace

void prepare_counters(const CounterSettings& settings) {
  if (counters.prepared.load(std::memory_order_relaxed)) return;
  counters.owner = getpid();
  const uint32_t visible = find_devices();
  if (visible == 0) return;
  prepare_sensors(settings.sensors, settings.sensor_share, visible);
  if (settings.counters && find_sampling()) {
    counters.devices = visible;
    counters.requested_hertz = settings.hertz;
    if (counters.devices == 1) choose(0);
  }
  counters.prepared.store(true, std::memory_order_release);
}

bool start_counters(bool for_a_round) {
  if (!is_ours() || counters.wanted) return false;
  counters.wanted = true;
  counters.hertz = choose_hertz(for_a_round);
  start_devices_in_use();
  return true;
}

void drain_counters() {
  if (!is_ours() || !counters.wanted) return;
  for (uint32_t device = 0; device < counters.devices; ++device) {
    Slot& slot = counters.slots[device];
    if (slot.state != State::running) continue;
    if (const auto failure = slot.sampler.drain()) give_up(device, failure);
  }
  if (now_ns() - counters.last_device_check >= kDeviceCheckInterval) start_devices_in_use();
}

void stop_counters() {
  end_running([](Sampler& sampler) { sampler.stop(); });
}

void pause_counters() {
  end_running([](Sampler& sampler) { sampler.pause(); });
}

void end_counters() {
  if (!is_ours()) return;
  for (uint32_t device = 0; device < counters.devices; ++device) {
    Slot& slot = counters.slots[device];
    if (slot.state == State::ready) slot.sampler.end();
    slot.state = State::off;
  }
}

void sample_sensors() {
  if (is_ours()) read_sensors_if_due();
}

}  // namespace llmprof::collector
