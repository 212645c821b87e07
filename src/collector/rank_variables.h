#pragma once

#include <cstddef>

// The variables by which torchrun, Slurm and MPI tell a process its rank in a distributed job: the
// only environment variables that the log may contain.
namespace llmprof::collector {

struct RankVariable {
  const char* name;
  const char* value;
};

// Those that are set to a number, at most `room` of them. Returns how many.
size_t read_rank_variables(RankVariable* variables, size_t room);

// The rank among all processes of the job; null if no launcher set one.
const RankVariable* global_rank();

}  // namespace llmprof::collector
