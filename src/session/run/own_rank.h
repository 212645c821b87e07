#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"

namespace llmprof::session {

// Which rank of a job this process is, by the variables that launchers set: torchrun, Open MPI,
// MPICH and its relatives, PMIx, Slurm. A launcher inside another knows better and comes first.
struct OwnRank {
  uint64_t rank = 0;
  std::optional<uint64_t> world_size;
};
std::optional<OwnRank> own_rank();

// Why there is none, and what helps.
Error no_rank();

}  // namespace llmprof::session
