#include "readers/collector_log/place_in_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::readers::collector_log {
namespace {

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
// Where a step has fewer tasks than its job.
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

// A part "TP3" of "sglang::scheduler_DP0_TP3_EP3". Experts are spread over the same ranks.
bool is_dimension(std::string_view part) {
  constexpr size_t kLetters = 2;
  const std::string_view kind = part.substr(0, kLetters);
  return part.size() > kLetters && (kind == "TP" || kind == "PP" || kind == "DP") &&
         parse_int(part.substr(kLetters)).has_value();
}

// With two dimensions a rank depends on their sizes, which a title does not have.
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

}  // namespace

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

}  // namespace llmprof::readers::collector_log
