#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "readers/collector_log/log_reading.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::collector_log {

static_assert(static_cast<uint32_t>(trace::TracingState::stood_down) + 1 ==
              static_cast<uint32_t>(wire::TracingState::stood_down));
static_assert(static_cast<uint32_t>(trace::TracingReason::delay) ==
              static_cast<uint32_t>(wire::TracingReason::delay));

inline trace::TracingState state_of(wire::TracingState state) {
  return static_cast<trace::TracingState>(static_cast<uint32_t>(state) - 1);
}

inline std::string why_stood_down(const wire::TracingChange& change) {
  switch (change.reason) {
    case wire::TracingReason::other_subscriber:
      return "CUDA tracing stopped: another tool (nsys, ncu, torch.profiler) uses CUPTI, which "
             "serves one at a time; kernels were not recorded. Run without the other tool";
    case wire::TracingReason::cupti_missing:
      return "CUDA tracing stopped: libcupti could not be loaded, so kernels were not recorded. It "
             "comes with the CUDA toolkit and with PyTorch; LLMPROF_CUPTI names its path";
    case wire::TracingReason::cupti_failed:
      return fmt::format(
          "CUDA tracing stopped: CUPTI failed with result {}, so kernels were not recorded from "
          "then on. Set LLMPROF_CUPTI to another libcupti",
          change.result);
    default:
      return "CUDA tracing stopped: kernels were not recorded from then on";
  }
}

// Variables set by launchers and engines, by name.
using LauncherVariables = std::map<std::string_view, std::string_view>;

struct Launcher {
  std::string_view rank;
  std::string_view local_rank;
  std::string_view size;
};
inline constexpr std::array<Launcher, 6> kLaunchers = {{
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},  // torchrun
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},  // MPICH, Intel MPI
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},  // MVAPICH
    {"PMIX_RANK", "SLURM_LOCALID", "SLURM_NTASKS"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
}};
// Preferred to SLURM_NTASKS: a step may have fewer tasks than its job.
inline constexpr std::string_view kTasksOfStep = "SLURM_STEP_NUM_TASKS";
// torchrun without rendezvous calls every job "none".
inline constexpr std::array<std::string_view, 3> kJobs = {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE",
                                                          "OMPI_MCA_ess_base_jobid"};

inline std::string_view value_of(const LauncherVariables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string_view() : found->second;
}

inline std::optional<uint32_t> number_of(const LauncherVariables& variables, std::string_view name,
                                         uint64_t& bad_values) {
  if (!variables.contains(name)) return std::nullopt;
  const auto number = parse_int(value_of(variables, name));
  if (number && *number >= 0 && *number <= UINT32_MAX) return static_cast<uint32_t>(*number);
  ++bad_values;
  return std::nullopt;
}

// From parts like "TP3" in "sglang::scheduler_DP0_TP3_EP3". EP is ignored: experts are spread over
// the same ranks. With two dimensions a rank depends on their sizes, which a title does not
// contain.
inline std::optional<uint32_t> rank_in_title(std::string_view title) {
  constexpr WordList kDimensions = {"TP|PP|DP"};
  std::optional<uint32_t> rank;
  for (const std::string_view part : split(title, '_')) {
    if (!kDimensions.contains(part.substr(0, 2))) continue;
    const auto number = parse_int(part.substr(2));
    if (!number) continue;
    if (rank || *number < 0 || *number > UINT32_MAX) return std::nullopt;
    rank = static_cast<uint32_t>(*number);
  }
  return rank;
}

inline std::string_view size_variable(const LauncherVariables& variables,
                                      const Launcher& launcher) {
  const bool of_step = launcher.size == "SLURM_NTASKS" && variables.contains(kTasksOfStep);
  return of_step ? kTasksOfStep : launcher.size;
}

inline std::string job_of(const LauncherVariables& variables) {
  for (const std::string_view name : kJobs) {
    const std::string_view job = value_of(variables, name);
    if (!job.empty() && job != "none") return std::string(job);
  }
  const std::string_view job = value_of(variables, "SLURM_JOB_ID");
  const std::string_view step = value_of(variables, "SLURM_STEP_ID");
  return job.empty() || step.empty() ? std::string(job) : fmt::format("{}.{}", job, step);
}

// From the variables of torchrun, MPI and Slurm, in this order: an inner launcher is more specific.
// Without any, from the title that vLLM and SGLang give their workers, if it has one number.
inline void find_rank(const LauncherVariables& variables, trace::Capture& capture,
                      uint64_t& bad_values) {
  for (const Launcher& launcher : kLaunchers) {
    capture.rank = number_of(variables, launcher.rank, bad_values);
    if (!capture.rank) continue;
    capture.local_rank = number_of(variables, launcher.local_rank, bad_values);
    capture.world_size = number_of(variables, size_variable(variables, launcher), bad_values);
    break;
  }
  if (!capture.rank) capture.rank = rank_in_title(value_of(variables, "process_title"));
  if (capture.world_size && *capture.world_size <= *capture.rank) {
    capture.world_size.reset();
    ++bad_values;
  }
}

// What a log says about the process, its GPUs and when it was recording.
class SessionFacts : LogReading {
 public:
  explicit SessionFacts(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::CudaSession& session) {
    builder_.capture().cuda_version = cuda_version(session.driver_version);
    sessions_.push_back(session);
  }
  void add(const wire::CudaDevice& record) {
    trace::Device& device = builder_.device_info(builder_.device(record.ordinal));
    device.name = to_printable({record.name, strnlen(record.name, sizeof record.name)});
    device.uuid = uuid_text(record.uuid);
    device.sm_count = record.sm_count;
    device.memory_bytes = record.memory_bytes;
    device.memory_bandwidth = record.memory_bandwidth;
    device.clock_hz = record.clock_hz;
    device.compute_capability =
        fmt::format("{}.{}", record.capability_major, record.capability_minor);
  }

  void add(const wire::Variable& variable) { variables_.push_back(variable); }
  void add(const wire::TracingChange& change) {
    // Before it is armed, it is attached only to record memory.
    const bool attached_only = change.state == wire::TracingState::paused;
    watched_memory_ = watched_memory_ || (attached_only && !armed_);
    armed_ = armed_ || change.state == wire::TracingState::tracing ||
             change.state == wire::TracingState::stood_down;
    trace::add_row(builder_.trace().tracing_changes, change.time, process_, state_of(change.state),
                   static_cast<trace::TracingReason>(change.reason), change.step, change.cost_ns);
    if (change.state == wire::TracingState::stood_down) {
      note(Severity::warning, "collector_stood_down", why_stood_down(change));
    }
  }

  void add(const wire::Waiting& waiting) { waiting_ = waiting; }
  void add(const wire::CuptiDropped& dropped) { findings_.cupti_dropped += dropped.records; }
  void add(const wire::CountersOff& off) { counters_off_.push_back(off); }
  void add(const wire::CountersLost& lost) { findings_.counters_lost += lost.times; }
  void add(const wire::Dropped& dropped) {
    findings_.dropped = std::max(findings_.dropped, dropped.records);
  }
  void add(const wire::CleanEnd& end) {
    findings_.closed = true;
    findings_.chunks_when_closed = end.chunks;
    findings_.dropped = std::max(findings_.dropped, end.dropped);
  }

  // Processes what needs the log's strings.
  void finish() {
    note_driver_and_cupti();
    note_never_armed();
    note_counters_off();
    find_place_in_job();
  }

 private:
  void note(Severity severity, std::string_view code, std::string_view message) {
    findings_.notices.push_back({severity, std::string(code), std::string(message)});
  }

  void note_driver_and_cupti() {
    for (const wire::CudaSession& session : sessions_) {
      if (session.kernel_driver != 0) {
        const trace::StringId version = texts_.find(session.kernel_driver);
        builder_.capture().driver_version = std::string(texts_.text(version));
      }
      const trace::StringId path = texts_.find(session.cupti_path);
      if (session.cupti_version == 0) continue;
      note(Severity::info, "collector_cupti",
           fmt::format("recorded through CUPTI {}{}{}", session.cupti_version,
                       path.valid() ? ", " : "", texts_.text(path)));
    }
  }

  void note_never_armed() {
    if (!waiting_ || armed_) return;
    std::string what;
    switch (waiting_->what) {
      case wire::WaitsFor::command:
        what =
            "`llmprof arm PID`, which was not given; give it while the program runs, or record "
            "from the start (LLMPROF_ARM=start)";
        break;
      case wire::WaitsFor::range:
        what = fmt::format(
            "the range '{}', which never opened after CUDA was initialized; name one that the "
            "program opens (LLMPROF_ARM), or record from the start (LLMPROF_ARM=start)",
            to_printable(texts_.text(texts_.find(waiting_->range))));
        break;
      case wire::WaitsFor::delay:
        what = fmt::format(
            "the delay of {} ms (LLMPROF_DELAY_MS), and the log ends before that; set a shorter "
            "delay",
            waiting_->delay_ms);
    }
    findings_.never_armed = true;
    note(Severity::warning, "collector_never_armed",
         fmt::format("the collector was loaded but never armed, so {}: it waited for {}",
                     watched_memory_ ? "GPU memory was recorded, and no GPU work"
                                     : "no GPU work was recorded",
                     what));
  }

  void note_counters_off() {
    for (const wire::CountersOff& off : counters_off_) {
      const trace::StringId reason = texts_.find(off.reason);
      note(Severity::warning, "collector_counters_off",
           reason.valid() ? texts_.text(reason) : "hardware counters are off; the reason was lost");
    }
  }

  void find_place_in_job() {
    LauncherVariables variables;
    for (const wire::Variable& variable : variables_) {
      const std::string_view name = texts_.text(texts_.find(variable.name));
      const std::string_view value = texts_.text(texts_.find(variable.value));
      if (!name.empty()) variables.insert_or_assign(name, value);
    }
    find_rank(variables, builder_.capture(), findings_.bad_values);
    builder_.capture().job = job_of(variables);
  }

  std::vector<wire::CudaSession> sessions_;
  std::optional<wire::Waiting> waiting_;
  bool armed_ = false;  // or arming was attempted
  bool watched_memory_ = false;
  std::vector<wire::Variable> variables_;
  std::vector<wire::CountersOff> counters_off_;
};

}  // namespace llmprof::readers::collector_log
