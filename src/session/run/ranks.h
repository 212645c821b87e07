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

// The log of one process of a distributed job, as its name and its end say.
struct RankLog {
  uint64_t rank = 0;
  uint64_t process = 0;
  bool by_exit = false;
};
// The logs in a folder that name a rank ("rank3-4711.llmtrace").
std::vector<RankLog> rank_logs(const fs::path& folder);
size_t count_ranks(const std::vector<RankLog>& logs);

// What became of the ranks of a recorded command, from the logs they left, how the launcher ended,
// and what it said. Without ranks where the command was no distributed job.
RanksRecord rank_states(const std::optional<capture::Launcher>& launcher,
                        const capture::CommandRecord& command, const std::vector<RankLog>& logs);

// Names the ranks that died or are missing, and says what becomes of the others; none where there
// are none.
std::optional<Error> rank_failure(const RanksRecord& ranks, const capture::CommandRecord& command,
                                  std::string_view others);
// "rank 1 of 4 died (signal 9 (Killed)), rank 3 of 4 is missing (it left no log)"
std::string name_ranks(const RanksRecord& ranks);

// Ranks that record themselves into one folder (--rank-folder). Each writes into its own folder
// alone, so that nothing is shared but the folder around them.

// Makes a rank's folder; one that exists is refused unless `force`, which moves aside what an
// earlier job left in it. Of two processes that are the same rank only one gets it.
Result<RunFolder> create_rank_root(const RankOfJob& own, const fs::path& folder, bool force);

// What is known of the rank before it ends: whoever finds this knows that it did not.
void begin_rank(const RankOfJob& own, const Artifacts& bundle);
Result<void> end_rank(const RankOfJob& own, const capture::CaptureResult& captured,
                      const Artifacts& bundle);

// Waits until all ranks have ended, or the time is over; names those that died, are missing, or
// still run. None where all are recorded.
std::optional<Error> wait_for_ranks(const RankOfJob& own, const std::atomic<bool>* stop);

}  // namespace llmprof::session
