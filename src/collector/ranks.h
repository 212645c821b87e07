#pragma once

// This process's place in a distributed job, and its records in the log.
namespace llmprof::collector {

// The rank among all processes of the job; null if no launcher set one.
const char* global_rank();

// The worker titles and rank variables of engines: LLMPROF_RANK_TITLES, LLMPROF_RANK_VARIABLES.
void read_engine_texts();

// Writes the rank variables and the process's title to the log if they are new or have changed. The
// log must have been started.
void write_rank_facts();

// The title alone: unlike the environment, which another thread may be changing, it can be read at
// any time.
void write_process_title();

// For a forked child: another thread of its parent may have been writing.
void forget_rank_facts();

}  // namespace llmprof::collector
