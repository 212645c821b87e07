// The entry point that the CUDA driver calls in cuInit if CUDA_INJECTION64_PATH names this library.
// Reads settings from the environment and handles programs that run under nsys or ncu.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "collector/cuda/allocations/allocation_events.h"
#include "collector/cuda/allocations/driver_symbols.h"
#include "collector/cuda/control/schedule.h"
#include "collector/cuda/control/tracing_control.h"
#include "collector/cuda/driver/driver.h"
#include "collector/cuda/driver/memory_readings.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"
#include "collector/launches/host_calls.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

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

// Launchers set the number of processes that they started. Slurm sets it in batch scripts too,
// except for the number of tasks in a step.
bool is_one_of_several_ranks() {
  constexpr const char* kSizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                    "SLURM_STEP_NUM_TASKS"};
  for (const char* name : kSizes) {
    if (number(name) > 1) return true;
  }
  return false;
}

bool preloaded() {
  const char* rest = secure_getenv("LD_PRELOAD");
  constexpr char kSeparators[] = ": ";
  while (rest != nullptr && *rest != '\0') {
    const size_t length = std::strcspn(rest, kSeparators);
    char path[PATH_MAX];
    if (length < sizeof path) {
      std::memcpy(path, rest, length);
      path[length] = '\0';
      if (names_a_collector(path)) return true;
    }
    rest += length;
    rest += std::strspn(rest, kSeparators);
  }
  return false;
}

Settings::Memory read_memory() {
  using Memory = Settings::Memory;
  if (is_off("LLMPROF_MEMORY")) return Memory::off;
  if (wants_driver_calls()) {
    if (preloaded()) return Memory::calls;
    constexpr char kNotPreloaded[] =
        "GPU memory was not recorded: LLMPROF_MEMORY=calls needs this library in LD_PRELOAD";
    write_device_record(wire::RecordType::memory_off,
                        wire::MemoryOff{now_ns(), text_key(kNotPreloaded), 0});
    return Memory::off;
  }
  return std::strcmp(variable("LLMPROF_MEMORY"), "always") == 0 ? Memory::always : Memory::armed;
}

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
  settings.memory = read_memory();
  // A budget's windows would see only a part of the allocations.
  if (settings.overhead_budget > 0 && settings.memory != Settings::Memory::calls) {
    settings.memory = Settings::Memory::off;
  }
  // Windows of a budget are shorter than enabling counters takes, and CUPTI could not enable them
  // again after the first one.
  settings.counters.counters = !is_off("LLMPROF_COUNTERS") && settings.overhead_budget <= 0;
  settings.counters.hertz = static_cast<uint32_t>(number("LLMPROF_COUNTER_HZ"));
  // If the collector may detach, counters stay enabled: cuptiFinalize prevents enabling them again.
  settings.counters.rounds = settings.arm == Settings::Arm::start && settings.limit.steps == 0 &&
                             !settings.duty.is_set() && settings.overhead_budget <= 0 &&
                             !is_off("LLMPROF_COUNTER_ROUNDS");
  settings.counters.sensors = !is_off("LLMPROF_SENSORS");
  settings.counters.sensor_share = settings.overhead_budget * kSensorsOfBudget;
  return settings;
}

constexpr char kInjection[] = "CUDA_INJECTION64_PATH";
constexpr char kNvtxInjection[] = "NVTX_INJECTION64_PATH";
// Set for child processes once the warning has been printed.
constexpr char kWarned[] = "LLMPROF_STOOD_DOWN";

constexpr char kUnderNcu[] =
    "ncu profiles this program: the collector stands down, kernels are not recorded";
constexpr char kUnderAnother[] =
    "CUDA_INJECTION64_PATH names another tool's library, as under nsys: the collector stands down, "
    "kernels are not recorded";
constexpr char kWithinNsys[] =
    "nsys replaces the collector in the programs that it profiles: the collector stands down there";

bool program_is(const char* name) { return std::strcmp(program_invocation_short_name, name) == 0; }

bool ncu_is_around() {
  // ncu 2022 to 2025 set it for the processes that they start.
  return secure_getenv("NV_NSIGHT_INJECTION_PORT_BASE") != nullptr || program_is("ncu");
}

void warn_once(const char* what) {
  if (secure_getenv(kWarned) != nullptr) return;
  setenv(kWarned, "1", 1);
  write_warning(what);
}

void set_to_this_library(const char* variable) {
  const char* path = own_path();
  if (path != nullptr && value_of(variable) == nullptr) setenv(variable, path, 1);
}

void unset_if_ours(const char* variable) {
  if (names_a_collector(value_of(variable))) unsetenv(variable);
}

// A preloaded library does not need CUDA_INJECTION64_PATH to be set from outside. ncu's own library
// checks that variable before any constructor of the program runs, and rejects a program that has
// it, so it is removed as early as possible: in ncu itself, or in a process that ncu started. Runs
// before main(), when no other thread reads the environment.
[[gnu::constructor]] void choose_injection() {
  if (!preloaded()) return;
  const bool wanted = value_of("LLMPROF_LOG_DIR") != nullptr;
  const char* tool = value_of(kInjection);
  if (ncu_is_around()) {
    unset_if_ours(kInjection);
    unset_if_ours(kNvtxInjection);
    if (wanted) warn_once(kUnderNcu);
  } else if (tool != nullptr && !names_a_collector(tool)) {
    if (wanted) warn_once(kUnderAnother);
  } else if (wanted && wanted_launch_timing() != LaunchTiming::alone) {
    set_to_this_library(kInjection);
    set_to_this_library(kNvtxInjection);
  }
}

// Whether this process belongs to nsys or ncu itself, not to the profiled program: they use the
// driver, which loads this library into any process. In nsys, warns that the collector stands down.
bool is_process_of_profiler() {
  if (program_is("nsys")) {
    // nsys's threads are running: the environment, which warn_once changes, must not be touched.
    write_warning(kWithinNsys);
    return true;
  }
  return program_is("nsys-launcher") || program_is("CudaGpuInfoDumper") || program_is("ncu");
}

constinit std::atomic<pid_t> initialized_in = 0;

void at_end_of_process() {
  // A forked child has neither the threads nor CUDA.
  if (initialized_in.load(std::memory_order_acquire) != getpid()) return;
  stop_threads();
  if (cuda_is_ready()) {
    write_driver_facts(false);
    read_memory_at_end();
  }
  end_tracing();
}

void begin() {
  if (is_process_of_profiler() || is_launcher() || !recording()) return;
  if (initialized_in.exchange(getpid()) != 0) return;
  if (wanted_launch_timing() == LaunchTiming::callbacks) {
    time_driver_calls();
    return;
  }
  const Settings settings = read_settings();
  begin_schedule(settings);
  // Runs before the exit handlers of libraries loaded earlier, such as CUPTI and the driver.
  std::atexit(at_end_of_process);
  pthread_atfork(nullptr, nullptr, abandon_schedule);
  start_threads(settings);
  if (settings.memory != Settings::Memory::off) wait_for_memory_reading();
  if (settings.memory == Settings::Memory::calls) begin_memory_calls();
}

}  // namespace
}  // namespace llmprof::collector

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, llmprof::collector::begin);
  return 1;
}
