#include "session/run/own_rank.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace llmprof::session {
namespace {

struct RankVariables {
  const char* rank;
  const char* size;
};
constexpr std::array kRankVariables = {
    RankVariables{"RANK", "WORLD_SIZE"},
    RankVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    RankVariables{"PMI_RANK", "PMI_SIZE"},
    RankVariables{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
    RankVariables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

// A batch script, too, has the variables of a task, before it starts any. Only a step has a number;
// those of scripts and interactive shells are reserved ones.
bool is_of_no_step(std::string_view variable) {
  constexpr int64_t kFirstReserved = 4'000'000'000;
  if (!variable.starts_with("SLURM_")) return false;
  const char* step = std::getenv("SLURM_STEP_ID");
  const auto number = step == nullptr ? std::nullopt : parse_int(step);
  return !number || *number >= kFirstReserved;
}

std::optional<uint64_t> number_in(const char* variable) {
  if (is_of_no_step(variable)) return std::nullopt;
  const char* value = std::getenv(variable);
  const auto number = value == nullptr ? std::nullopt : parse_int(value);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

}  // namespace

std::optional<OwnRank> own_rank() {
  for (const RankVariables& variables : kRankVariables) {
    const auto rank = number_in(variables.rank);
    if (rank) return OwnRank{*rank, number_in(variables.size)};
  }
  return std::nullopt;
}

Error no_rank() {
  return {
      ErrorKind::usage,
      "--rank-folder: no launcher has told this process its rank (RANK, OMPI_COMM_WORLD_RANK, "
      "PMI_RANK, PMIX_RANK and SLURM_PROCID are not set); start it as `mpirun -n 4 llmprof run "
      "--rank-folder DIR -- PROGRAM`, or let llmprof start the launcher: `llmprof run -- mpirun "
      "-n 4 PROGRAM`"};
}

}  // namespace llmprof::session
