#pragma once

#include <cstdint>

#include "collector/cuda/control/step_plan.h"
#include "collector/cuda/counters/counters.h"

namespace llmprof::collector {

// How an overhead budget is divided: what remains is for watching launches between the windows, and
// for the collector's threads (H200, llama.cpp: 0.6 % of the program's time).
inline constexpr double kWindowsOfBudget = 0.6;
inline constexpr double kSensorsOfBudget = 0.1;

// Settings of CUDA tracing, from the environment (docs/collector.md).
struct Settings {
  enum class Arm : uint8_t { start, command, range };
  Arm arm = Arm::start;
  uint32_t delay_ms = 0;  // after CUDA was initialized
  StepLimit limit;
  DutyCycle duty;
  bool in_job = false;         // one of several ranks
  double overhead_budget = 0;  // as a share of the program's time; 0: none
  bool every_call = false;     // all CUDA functions, not only those that launch, copy or wait
  CounterSettings counters;
};

Settings read_settings();

}  // namespace llmprof::collector
