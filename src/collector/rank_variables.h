#pragma once

#include <cstddef>

// The variables by which torchrun, MPI, Slurm and engines tell a process its rank in a distributed
// job: the only environment variables that the log may contain.
namespace llmprof::collector {

struct RankVariable {
  const char* name;
  const char* value;
};

inline constexpr size_t kMostRankVariables = 40;
inline constexpr size_t kLongestRankValue = 127;  // bytes

// Those that are set, and are what they should be: numbers, or the name of a job.
size_t read_rank_variables(RankVariable (&variables)[kMostRankVariables]);

// The rank among all processes of the job; null if no launcher set one.
const RankVariable* global_rank();

// Whether a text is no longer than kLongestRankValue, and consists of letters, digits and some
// signs.
bool is_rank_text(const char* text);

}  // namespace llmprof::collector
