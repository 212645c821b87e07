#include "collector/cuda/counters/counters.h"

#include <unistd.h>

#include <atomic>

#include "collector/clock.h"
#include "collector/cuda/counters/sampler.h"
#include "collector/cuda/counters/sampler_off.h"
#include "collector/cuda/counters/sensors.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/cupti/pm_functions.h"
#include "collector/cuda/driver/devices.h"

namespace llmprof::collector {
namespace {

// A sample of an H200 costs 70 us of our thread with ten counters: 1,000 a second are a fourteenth
// of one core, 10,000 most of it. In rounds, twice as many, for a quarter of the time.
constexpr uint32_t kUsualHertz = 1000;
constexpr uint32_t kMoreInRounds = 2;
constexpr uint32_t kUsualHertzOfMany = 500;
constexpr uint32_t kFewDevices = 2;
constexpr uint32_t kMostHertz = 10'000;
constexpr uint32_t kLeastHertz = 10;

constexpr int64_t kLookForDevicesEvery = 250'000'000;

enum class State : uint8_t {
  not_chosen,
  ready,
  running,
  off,  // for good
};

struct Slot {
  State state = State::not_chosen;
  Sampler sampler;
};

constinit std::atomic<bool> prepared = false;
constinit pid_t owner = 0;
constinit uint32_t devices = 0;
constinit uint32_t asked_hertz = 0;
constinit uint32_t hertz = 0;  // of what is started
constinit Slot slots[kMostDevices] = {};
constinit bool wanted = false;  // between start and stop
constinit int64_t last_look = 0;

// Neither CUPTI's objects nor the driver's survive a fork.
bool is_ours() { return prepared.load(std::memory_order_acquire) && getpid() == owner; }

uint32_t choose_hertz(bool for_a_round) {
  if (asked_hertz == 0) {
    const uint32_t usual = devices <= kFewDevices ? kUsualHertz : kUsualHertzOfMany;
    return for_a_round ? usual * kMoreInRounds : usual;
  }
  if (asked_hertz < kLeastHertz) return kLeastHertz;
  return asked_hertz < kMostHertz ? asked_hertz : kMostHertz;
}

void give_up(uint32_t device, PmFailure failure) {
  tell_sampling_failed({device, slots[device].sampler.chip()}, failure);
  slots[device].state = State::off;
  if (!concerns_all_devices(failure)) return;
  for (Slot& slot : slots) {
    if (slot.state == State::not_chosen) slot.state = State::off;
  }
}

void choose(uint32_t device) {
  Slot& slot = slots[device];
  if (const auto failure = slot.sampler.choose(device)) return give_up(device, failure);
  slot.state = State::ready;
  tell_missing_quantities({device, slot.sampler.chip()}, slot.sampler.metrics());
}

void start(uint32_t device) {
  Slot& slot = slots[device];
  if (slot.state != State::ready) return;
  if (const auto failure = slot.sampler.start(hertz)) return give_up(device, failure);
  slot.state = State::running;
}

// A process of a distributed job sees the GPUs of its machine and uses one of them.
void start_devices_in_use() {
  last_look = now_ns();
  for (uint32_t device = 0; device < devices; ++device) {
    if (slots[device].state == State::not_chosen && device_in_use(device)) choose(device);
    start(device);
  }
}

template <class End>
void end_running(const End& end) {
  if (!is_ours() || !wanted) return;
  wanted = false;
  for (Slot& slot : slots) {
    if (slot.state != State::running) continue;
    end(slot.sampler);
    slot.state = State::ready;
  }
}

// False: told why.
bool find_sampling() {
  if (!load_cupti()) {
    tell_cupti_missing();
    return false;
  }
  if (!load_pm_functions()) {
    tell_cupti_lacks_sampling();
    return false;
  }
  LLMPROF_PM_PARAMETERS(CUpti_Profiler_Initialize_Params, parameters);
  // Without it CUPTI's other calls crash.
  const CUptiResult result = pm().initialize(&parameters);
  if (result == CUPTI_SUCCESS) return true;
  give_up(0, {"cuptiProfilerInitialize", result});
  return false;
}

}  // namespace

void prepare_counters(const CounterSettings& settings) {
  if (prepared.load(std::memory_order_relaxed)) return;
  owner = getpid();
  const uint32_t visible = find_devices();
  if (visible == 0) return;
  prepare_sensors(settings.sensors, visible);
  if (settings.counters && find_sampling()) {
    devices = visible;
    asked_hertz = settings.hertz;
    if (devices == 1) choose(0);
  }
  prepared.store(true, std::memory_order_release);
}

bool start_counters(bool for_a_round) {
  if (!is_ours() || wanted) return false;
  wanted = true;
  hertz = choose_hertz(for_a_round);
  start_devices_in_use();
  return true;
}

void drain_counters() {
  if (!is_ours() || !wanted) return;
  for (uint32_t device = 0; device < devices; ++device) {
    Slot& slot = slots[device];
    if (slot.state != State::running) continue;
    if (const auto failure = slot.sampler.drain()) give_up(device, failure);
  }
  if (now_ns() - last_look >= kLookForDevicesEvery) start_devices_in_use();
}

void stop_counters() {
  end_running([](Sampler& sampler) { sampler.stop(); });
}

void rest_counters() {
  end_running([](Sampler& sampler) { sampler.rest(); });
}

void end_counters() {
  if (!is_ours()) return;
  for (uint32_t device = 0; device < devices; ++device) {
    Slot& slot = slots[device];
    if (slot.state == State::ready) slot.sampler.end();
    slot.state = State::off;
  }
}

void sample_sensors() {
  if (is_ours()) read_sensors_where_due();
}

}  // namespace llmprof::collector
