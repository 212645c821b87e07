#pragma once

// What the log says of this process's place in a distributed job.
namespace llmprof::collector {

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
