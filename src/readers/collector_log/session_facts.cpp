#include "readers/collector_log/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::collector_log {
namespace {

static_assert(static_cast<uint32_t>(trace::CollectionState::stood_down) + 1 ==
              static_cast<uint32_t>(wire::CollectionState::stood_down));
static_assert(static_cast<uint32_t>(trace::CollectionReason::delay) ==
              static_cast<uint32_t>(wire::CollectionReason::delay));

trace::CollectionState state_of(wire::CollectionState state) {
  return static_cast<trace::CollectionState>(static_cast<uint32_t>(state) - 1);
}

std::string why_stood_down(const wire::Collection& change) {
  switch (change.reason) {
    case wire::CollectionReason::other_subscriber:
      return "CUDA tracing stopped: another tool (nsys, ncu, torch.profiler) uses CUPTI, which "
             "serves one at a time; kernels were not recorded. Run without the other tool";
    case wire::CollectionReason::cupti_missing:
      return "CUDA tracing stopped: libcupti could not be loaded, so kernels were not recorded. It "
             "comes with the CUDA toolkit and with PyTorch; LLMPROF_CUPTI names its path";
    case wire::CollectionReason::cupti_failed:
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

struct PlaceInJob {
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;
  std::optional<uint32_t> world_size;
  std::string job;  // the launcher's job id; empty if unknown
  uint64_t bad_values = 0;
};

struct Launcher {
  std::string_view rank;
  std::string_view local_rank;
  std::string_view size;
};
constexpr std::array<Launcher, 6> kLaunchers = {{
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},  // torchrun
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},  // MPICH, Intel MPI
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},  // MVAPICH
    {"PMIX_RANK", "SLURM_LOCALID", "SLURM_NTASKS"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
}};
// Preferred to SLURM_NTASKS: a step may have fewer tasks than its job.
constexpr std::string_view kTasksOfStep = "SLURM_STEP_NUM_TASKS";
// torchrun without rendezvous calls every job "none".
constexpr std::array<std::string_view, 3> kJobs = {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE",
                                                   "OMPI_MCA_ess_base_jobid"};

std::string_view value_of(const LauncherVariables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string_view() : found->second;
}

std::optional<uint32_t> number_of(const LauncherVariables& variables, std::string_view name,
                                  PlaceInJob& place) {
  if (!variables.contains(name)) return std::nullopt;
  const auto number = parse_int(value_of(variables, name));
  if (number && *number >= 0 && *number <= UINT32_MAX) return static_cast<uint32_t>(*number);
  ++place.bad_values;
  return std::nullopt;
}

// A part like "TP3" in "sglang::scheduler_DP0_TP3_EP3". EP is ignored: experts are spread over the
// same ranks.
bool is_dimension(std::string_view part) {
  constexpr size_t kLetters = 2;
  const std::string_view kind = part.substr(0, kLetters);
  return part.size() > kLetters && (kind == "TP" || kind == "PP" || kind == "DP") &&
         parse_int(part.substr(kLetters)).has_value();
}

// With two dimensions a rank depends on their sizes, which a title does not contain.
std::optional<uint32_t> rank_in_title(std::string_view title) {
  std::optional<uint32_t> rank;
  for (const std::string_view part : split(title, '_')) {
    if (!is_dimension(part)) continue;
    const auto number = parse_int(part.substr(2));
    if (rank || *number < 0 || *number > UINT32_MAX) return std::nullopt;
    rank = static_cast<uint32_t>(*number);
  }
  return rank;
}

std::string_view size_variable(const LauncherVariables& variables, const Launcher& launcher) {
  const bool of_step = launcher.size == "SLURM_NTASKS" && variables.contains(kTasksOfStep);
  return of_step ? kTasksOfStep : launcher.size;
}

std::string job_of(const LauncherVariables& variables) {
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
PlaceInJob place_in_job(const LauncherVariables& variables) {
  PlaceInJob place;
  for (const Launcher& launcher : kLaunchers) {
    place.rank = number_of(variables, launcher.rank, place);
    if (!place.rank) continue;
    place.local_rank = number_of(variables, launcher.local_rank, place);
    place.world_size = number_of(variables, size_variable(variables, launcher), place);
    break;
  }
  if (!place.rank) place.rank = rank_in_title(value_of(variables, "process_title"));
  if (place.world_size && (*place.world_size == 0 || *place.world_size <= *place.rank)) {
    place.world_size.reset();
    ++place.bad_values;
  }
  place.job = job_of(variables);
  return place;
}

}  // namespace

void SessionFacts::add(const wire::CudaSession& session) {
  builder_.capture().cuda_version = cuda_version(session.driver_version);
  sessions_.push_back(session);
}

void SessionFacts::add(const wire::CudaDevice& record) {
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

void SessionFacts::add(const wire::Collection& change) {
  armed_ = true;
  trace::add_row(builder_.trace().collection, change.time, process_, state_of(change.state),
                 static_cast<trace::CollectionReason>(change.reason), change.step, change.cost_ns);
  if (change.state == wire::CollectionState::stood_down) {
    findings_.notices.push_back(
        {Severity::warning, "collector_stood_down", why_stood_down(change)});
  }
}

void SessionFacts::add(const wire::Dropped& dropped) {
  findings_.dropped = std::max(findings_.dropped, dropped.records);
}

void SessionFacts::add(const wire::CleanEnd& end) {
  findings_.closed = true;
  findings_.chunks_when_closed = end.chunks;
  findings_.dropped = std::max(findings_.dropped, end.dropped);
}

void SessionFacts::note_driver_and_cupti() {
  for (const wire::CudaSession& session : sessions_) {
    if (session.kernel_driver != 0) {
      const trace::StringId version = texts_.find(session.kernel_driver);
      builder_.capture().driver_version = std::string(texts_.text(version));
    }
    const trace::StringId path = texts_.find(session.cupti_path);
    if (session.cupti_version == 0) continue;
    findings_.notices.push_back({Severity::info, "collector_cupti",
                                 fmt::format("recorded through CUPTI {}{}{}", session.cupti_version,
                                             path.valid() ? ", " : "", texts_.text(path))});
  }
}

void SessionFacts::note_never_armed() {
  if (!waiting_ || armed_) return;
  std::string what;
  switch (waiting_->what) {
    case wire::WaitsFor::command:
      what =
          "`llmprof arm PID`, which was not given; give it while the program runs, or record from "
          "the start (LLMPROF_ARM=start)";
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
  findings_.notices.push_back(
      {Severity::warning, "collector_never_armed",
       "the collector was loaded but never armed, so no GPU work was recorded: it waited for " +
           what});
}

void SessionFacts::note_counters_off() {
  for (const wire::CountersOff& off : counters_off_) {
    const trace::StringId reason = texts_.find(off.reason);
    findings_.notices.push_back(
        {Severity::warning, "collector_counters_off",
         std::string(reason.valid() ? texts_.text(reason)
                                    : "hardware counters are off; the reason was lost")});
  }
}

void SessionFacts::find_place_in_job() {
  LauncherVariables variables;
  for (const wire::Variable& variable : variables_) {
    const std::string_view name = texts_.text(texts_.find(variable.name));
    const std::string_view value = texts_.text(texts_.find(variable.value));
    if (!name.empty()) variables.insert_or_assign(name, value);
  }
  const PlaceInJob place = place_in_job(variables);
  trace::Capture& capture = builder_.capture();
  capture.rank = place.rank;
  capture.local_rank = place.local_rank;
  capture.world_size = place.world_size;
  capture.job = place.job;
  findings_.bad_values += place.bad_values;
}

void SessionFacts::finish() {
  note_driver_and_cupti();
  note_never_armed();
  note_counters_off();
  find_place_in_job();
}

}  // namespace llmprof::readers::collector_log
