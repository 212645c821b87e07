#include "collector/cuda/counters/counters.h"

#include <unistd.h>

#include <atomic>

#include "collector/clock.h"
#include "collector/cuda/counters/counters_off.h"
#include "collector/cuda/counters/sampler.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/cupti/pm_functions.h"
#include "collector/cuda/driver/driver.h"

namespace llmprof::collector {
namespace {

// A sample with ten counters costs 70 us on our thread (H200): 1,000 per second use 7 % of one
// core, 10,000 most of it. In rounds, twice as many, for a quarter of the time.
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

// The counters of this process: of the thread that prepared them.
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

// Objects of CUPTI and of the driver do not survive a fork.
bool is_ours() {
  return counters.prepared.load(std::memory_order_acquire) && getpid() == counters.owner;
}

uint32_t choose_hertz(bool for_a_round) {
  if (counters.requested_hertz == 0) {
    const uint32_t usual = counters.devices <= kFewDevices ? kUsualHertz : kUsualHertzOfMany;
    return for_a_round ? usual * kMoreInRounds : usual;
  }
  if (counters.requested_hertz < kMinHertz) return kMinHertz;
  return counters.requested_hertz < kMaxHertz ? counters.requested_hertz : kMaxHertz;
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

// False: the reason was reported.
bool find_sampling() {
  if (!load_cupti()) {
    report_cupti_missing();
    return false;
  }
  if (!load_pm_functions()) {
    report_cupti_lacks_sampling();
    return false;
  }
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Initialize_Params, parameters);
  // Without it other calls of CUPTI crash.
  const CUptiResult result = pm().initialize(&parameters);
  if (result == CUPTI_SUCCESS) return true;
  give_up(0, {"cuptiProfilerInitialize", result});
  return false;
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
