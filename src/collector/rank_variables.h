#pragma once

#include <cstddef>

// What torchrun, Slurm and MPI tell a process of its place in a distributed job: the only variables
// of the environment that the log may hold.
namespace llmprof::collector {

struct RankVariable {
  const char* name;
  const char* value;
};

// Those that are set to a number, at most `room` of them.
size_t read_rank_variables(RankVariable* variables, size_t room);

// The rank among all processes of the job; null where no launcher told one.
const RankVariable* global_rank();

}  // namespace llmprof::collector
