#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.h"
#include "capture/capture_result.h"
#include "capture/launcher.h"
#include "session/bundle/ranks_record.h"

namespace llmprof::session {

// The log of one process of a distributed job, as its name and its end say.
struct RankLog {
  uint64_t rank = 0;
  uint64_t process = 0;
  bool by_exit = false;
};
// The logs in a folder that name a rank ("rank3-4711.llmtrace").
std::vector<RankLog> rank_logs(const std::filesystem::path& folder);
size_t count_ranks(const std::vector<RankLog>& logs);

// What became of the ranks of a recorded pass, from the logs they left, how the launcher ended, and
// what it said. Without ranks where the pass was no distributed job.
RanksRecord rank_states(const std::optional<capture::Launcher>& launcher,
                        const capture::CommandRecord& pass, const std::vector<RankLog>& logs);

// Names the ranks that died or are missing, and says what becomes of the others; none where there
// are none.
std::optional<Error> rank_failure(const RanksRecord& ranks, const capture::CommandRecord& pass,
                                  std::string_view others);
// "rank 1 of 4 died (signal 9 (Killed)), rank 3 of 4 is missing (it left no log)"
std::string name_ranks(const RanksRecord& ranks);

}  // namespace llmprof::session
