#pragma once

#include <cstddef>

// This process's place in a distributed job, and its records in the log.
namespace llmprof::collector {

// The variables by which torchrun, MPI, Slurm and engines give a process its rank: the only
// environment variables that the log may contain.
struct RankVariable {
  const char* name;
  const char* value;
};

inline constexpr size_t kMostRankVariables = 40;
inline constexpr size_t kLongestRankValue = 127;  // bytes

// Variables that are set and valid: numbers, or the name of a job.
size_t read_rank_variables(RankVariable (&variables)[kMostRankVariables]);

// The rank among all processes of the job; null if no launcher set one.
const RankVariable* global_rank();

// Whether a text is at most kLongestRankValue long and consists of letters, digits and some
// punctuation.
bool is_rank_text(const char* text);

// From LLMPROF_RANK_TITLES; otherwise, titles of engines that are known to set them.
void read_worker_titles();

// Writes the rank variables and the process's title to the log if they are new or have changed. The
// log must have been started.
void write_rank_facts();

// The title alone: unlike the environment, which another thread may be changing, it can be read at
// any time.
void write_process_title();

// For a forked child: another thread of its parent may have been writing.
void forget_rank_facts();

}  // namespace llmprof::collector
