#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::readers::collector_log {

// What launchers and engines set for a process, by name.
using LauncherVariables = std::map<std::string_view, std::string_view>;

struct PlaceInJob {
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;
  std::optional<uint32_t> world_size;
  std::string job;  // the launcher's id of it; empty where not known
  uint64_t bad_values = 0;
};

// By the variables of torchrun, MPI and Slurm, in this order: a launcher inside another knows
// better. Without any, by the title that vLLM and SGLang give their workers, if it has one number.
PlaceInJob place_in_job(const LauncherVariables& variables);

}  // namespace llmprof::readers::collector_log
