#pragma once

#include <atomic>
#include <optional>

#include "base/error.h"
#include "capture/capture_result.h"
#include "session/bundle/run_dir.h"
#include "session/run/run.h"

namespace llmprof::session {

// Ranks that record themselves into one folder (--rank-folder). Each writes into its own folder
// alone, so that nothing is shared but the folder around them.

// Makes a rank's folder; one that exists is refused unless `force`, which moves aside what an
// earlier job left in it. Of two processes that are the same rank only one gets it.
Result<RunFolder> create_rank_root(const RankOfJob& own, const std::filesystem::path& folder,
                                   bool force);

// What is known of the rank before it ends: whoever finds this knows that it did not.
void begin_rank(const RankOfJob& own, const Artifacts& bundle);
Result<void> end_rank(const RankOfJob& own, const capture::CaptureResult& captured,
                      const Artifacts& bundle);

// Waits until all ranks have ended, or the time is over; names those that died, are missing, or
// still run. None where all are recorded.
std::optional<Error> wait_for_ranks(const RankOfJob& own, const std::atomic<bool>* stop);

}  // namespace llmprof::session
