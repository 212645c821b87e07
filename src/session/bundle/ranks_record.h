#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

// As profile::Rank::state.
inline constexpr std::string_view kRankRecorded = "recorded";
inline constexpr std::string_view kRankDied = "died";
inline constexpr std::string_view kRankMissing = "missing";

// ranks.json: what a run knows of the ranks of a distributed job that their captures do not say.
//   {"world_size": 4, "finished": true, "ranks": [{"rank", "state", "detail"}]}
struct RankRecord {
  uint64_t rank = 0;
  std::string state;
  std::optional<std::string> detail;  // "signal 9 (Killed)"

  template <class Visitor>
  static void fields(Visitor& field) {
    field("rank", &RankRecord::rank, "among all of the job");
    field("state", &RankRecord::state, "recorded, died or missing");
    field("detail", &RankRecord::detail, "how it ended; null if there is nothing to say");
  }
};
inline std::optional<std::string> none_if_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

struct RanksRecord {
  std::optional<uint64_t> world_size;
  bool finished = true;           // false while the ranks are recorded
  std::vector<RankRecord> ranks;  // by rank

  [[nodiscard]] std::vector<RankRecord> not_recorded() const;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("world_size", &RanksRecord::world_size, "ranks of the job; null where unknown");
    field("finished", &RanksRecord::finished, "false while the ranks are recorded");
    field("ranks", &RanksRecord::ranks, "by rank");
  }
};

Result<void> write_ranks_record(const Artifacts& bundle, const RanksRecord& record);

// Of a run's folder; of a folder that holds one per rank (rank0/, rank1/, ...) all of them
// together. Ranks without a folder are not in it: they may be on other machines' disks. Empty where
// nothing is recorded; a file that cannot be read is a diagnostic.
RanksRecord read_ranks_record(const std::filesystem::path& folder, Diagnostics& diagnostics);

// "rank3", the folder of a rank beside those of the others.
std::string rank_folder_name(uint64_t rank);
// The folders of ranks in `folder`, by rank.
struct RankFolder {
  uint64_t rank = 0;
  std::filesystem::path path;
};
std::vector<RankFolder> rank_folders(const std::filesystem::path& folder);

}  // namespace llmprof::session
