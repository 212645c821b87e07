#pragma once

#include <cstdint>

#include "collector/cuda/control/step_plan.h"
#include "collector/cuda/counters/counters.h"

// When to record: armed at program start, by a range, a delay or a command; all steps, some of
// every period, or as many as an overhead budget allows.
namespace llmprof::collector {

// How an overhead budget is divided. The rest is for watching launches between windows, and for the
// collector's threads (H200, llama.cpp: 0.6 % of the program's time).
inline constexpr double kWindowsOfBudget = 0.6;
inline constexpr double kSensorsOfBudget = 0.1;

// Settings of CUDA tracing, from the environment (docs/collector.md).
struct Settings {
  enum class Arm : uint8_t { start, command, range };
  // Whose calls of CUDA show allocations of GPU memory; it is read in any case but `off`.
  enum class Memory : uint8_t {
    off,
    armed,   // CUPTI's records, from when it is armed
    always,  // CUPTI's records, from the start of the program
    calls,   // calls of the driver, without CUPTI
  };
  Arm arm = Arm::start;
  Memory memory = Memory::armed;
  uint32_t delay_ms = 0;  // after CUDA was initialized
  StepLimit limit;
  DutyCycle duty;
  bool in_job = false;         // one of several ranks
  double overhead_budget = 0;  // as a share of the program's time; 0: none
  bool every_call = false;     // all CUDA functions, not only those that launch, copy or wait
  CounterSettings counters;
};

// Called once, when CUDA is initialized.
void begin_schedule(const Settings& settings);

// For a forked child: it has neither CUDA nor the collector's threads, and records only
// annotations.
void abandon_schedule();

// The answers to the commands of `llmprof arm` and `disarm`.
const char* arm_by_command();
const char* disarm_by_command();
const char* describe_state();

// The collector's threads. The first collects CUPTI's records, detaches, and answers `llmprof arm`.
// The second is for counters and sensors only: enabling and disabling counters takes 0.1 s each,
// during which the first continues to hand over kernels.
void start_threads(const Settings& settings);
// Waits for them, up to 2 s each.
void stop_threads();

// Ranges opened so far that start a request.
[[nodiscard]] uint64_t requests_begun();

// Arms after the delay, if it is over. For the collector's own thread.
void arm_when_due();

// Opens and closes the windows of an overhead budget in a program that annotates no steps. For the
// collector's own thread.
void follow_time();

}  // namespace llmprof::collector
