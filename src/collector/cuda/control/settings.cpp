#include "collector/cuda/control/schedule.h"

#include <cstdlib>
#include <cstring>

namespace llmprof::collector {
namespace {

// Empty if it is not set.
const char* variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

bool is_off(const char* name) { return std::strcmp(variable(name), "off") == 0; }

uint64_t number(const char* name) { return strtoull(variable(name), nullptr, 10); }

Settings::Arm read_arm() {
  const char* arm = variable("LLMPROF_ARM");
  if (*arm == '\0' || std::strcmp(arm, "start") == 0) return Settings::Arm::start;
  return std::strcmp(arm, "command") == 0 ? Settings::Arm::command : Settings::Arm::range;
}

// "4/32": 4 of every 32 steps. Anything else: no duty cycle.
DutyCycle read_duty() {
  char* slash = nullptr;
  const unsigned long traced = strtoul(variable("LLMPROF_DUTY"), &slash, 10);
  if (slash == nullptr || *slash != '/') return {};
  const unsigned long period = strtoul(slash + 1, nullptr, 10);
  if (traced == 0 || traced >= period || period > UINT32_MAX) return {};
  return {static_cast<uint32_t>(traced), static_cast<uint32_t>(period)};
}

// A launcher says how many processes it started. Slurm says so to a batch script as well, except
// for the number of its step.
bool is_one_of_several_ranks() {
  constexpr const char* kSizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                    "SLURM_STEP_NUM_TASKS"};
  for (const char* name : kSizes) {
    if (number(name) > 1) return true;
  }
  return false;
}

}  // namespace

Settings read_settings() {
  constexpr double kPercent = 100;
  Settings settings;
  settings.arm = read_arm();
  settings.delay_ms = static_cast<uint32_t>(number("LLMPROF_DELAY_MS"));
  settings.limit.steps = number("LLMPROF_STEPS");
  settings.duty = read_duty();
  settings.in_job = is_one_of_several_ranks();
  const double budget = strtod(variable("LLMPROF_OVERHEAD_BUDGET"), nullptr);
  settings.overhead_budget = budget > 0 ? budget / kPercent : 0;
  settings.every_call = std::strcmp(variable("LLMPROF_API"), "1") == 0;
  // Windows of a budget are shorter than enabling counters takes, and CUPTI could not enable them
  // again after the first one.
  settings.counters.counters = !is_off("LLMPROF_COUNTERS") && settings.overhead_budget <= 0;
  settings.counters.hertz = static_cast<uint32_t>(number("LLMPROF_COUNTER_HZ"));
  // Whatever may detach keeps counters enabled: after cuptiFinalize they cannot be enabled again.
  settings.counters.rounds = settings.arm == Settings::Arm::start && settings.limit.steps == 0 &&
                             !settings.duty.is_set() && settings.overhead_budget <= 0 &&
                             !is_off("LLMPROF_COUNTER_ROUNDS");
  settings.counters.sensors = !is_off("LLMPROF_SENSORS");
  settings.counters.sensor_share = settings.overhead_budget * kSensorsOfBudget;
  return settings;
}

}  // namespace llmprof::collector
