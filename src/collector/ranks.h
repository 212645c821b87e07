#pragma once

#include <cstddef>

// This process's place in a distributed job, and what the log says of it.
namespace llmprof::collector {

// The variables by which torchrun, MPI, Slurm and engines give a process its rank: the only
// environment variables that the log may contain.
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

// From LLMPROF_RANK_TITLES; without it, of the engines that are known to set titles.
void read_worker_titles();

// Writes the rank variables and the process's title into the log, those that it does not have yet
// or that have changed since. The log has begun.
void write_rank_facts();

// The title alone: unlike the environment, which another thread may be changing, it can be read at
// any time.
void write_process_title();

// In a forked child: another thread of its parent may have been writing.
void forget_rank_facts();

}  // namespace llmprof::collector
