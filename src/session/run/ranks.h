#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.h"
#include "capture/launcher.h"
#include "capture/recording.h"
#include "session/bundle/records.h"
#include "session/run/run.h"

namespace llmprof::session {

// The log of one process of a distributed job, from its file name and its end.
struct RankLog {
  uint64_t rank = 0;
  uint64_t process = 0;
  bool by_exit = false;
};
// The logs in a folder whose names contain a rank ("rank3-4711.llmtrace").
std::vector<RankLog> rank_logs(const fs::path& folder);
size_t count_ranks(const std::vector<RankLog>& logs);

// The states of a recorded command's ranks, from their logs, the launcher's exit status and its
// output. Without ranks if the command was not a distributed job.
RanksRecord rank_states(const std::optional<capture::Launcher>& launcher,
                        const capture::CommandRecord& command, const std::vector<RankLog>& logs);

// Names the ranks that died or are missing, and says what happens to the others; none if all were
// recorded.
std::optional<Error> rank_failure(const RanksRecord& ranks, const capture::CommandRecord& command,
                                  std::string_view others);
// "rank 1 of 4 died (signal 9 (Killed)), rank 3 of 4 is missing (it left no log)"
std::string name_ranks(const RanksRecord& ranks);

// Ranks that record themselves into one folder (--rank-folder). Each writes only into its own
// subfolder, so that nothing else is shared. Errors are thrown (base/needed.h).

// Makes a rank's folder. An existing one is refused unless `force`, which moves an earlier job's
// files aside. If two processes are the same rank, only one gets the folder.
RunFolder create_rank_root(const RankOfJob& own, const fs::path& folder, bool force);

// Records the rank before it ends: if only this record is found, the rank did not end.
void begin_rank(const RankOfJob& own, const Artifacts& bundle);
void end_rank(const RankOfJob& own, const capture::CaptureResult& captured,
              const Artifacts& bundle);

// Waits until all ranks have ended or the time is over. An error names those that died, are missing
// or still run.
void wait_for_ranks(const RankOfJob& own, const std::atomic<bool>* stop);

}  // namespace llmprof::session
