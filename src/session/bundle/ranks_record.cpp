#include "session/bundle/ranks_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "session/bundle/record_file.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRanksFile = "ranks.json";
constexpr std::string_view kRankFolder = "rank";
constexpr size_t kLargestRanksFile = 64UL << 20U;
constexpr uint64_t kHighestRank = 1'000'000;

std::string known_state(const std::string& written) {
  for (const std::string_view state : {kRankDied, kRankMissing}) {
    if (written == state) return written;
  }
  return std::string(kRankRecorded);
}

// None where there is no such file.
std::optional<RanksRecord> read_one(const fs::path& folder, Diagnostics& diagnostics) {
  auto record = read_record<RanksRecord>(folder / kRanksFile, kLargestRanksFile,
                                         "ranks_record_unreadable", diagnostics);
  if (!record) return record;
  if (record->world_size.value_or(0) > kHighestRank) record->world_size.reset();
  std::erase_if(record->ranks, [](const RankRecord& rank) { return rank.rank > kHighestRank; });
  for (RankRecord& rank : record->ranks) rank.state = known_state(rank.state);
  return record;
}

}  // namespace

std::vector<RankRecord> RanksRecord::not_recorded() const {
  std::vector<RankRecord> others;
  std::ranges::copy_if(ranks, std::back_inserter(others),
                       [](const RankRecord& rank) { return rank.state != kRankRecorded; });
  return others;
}

Result<void> write_ranks_record(const Artifacts& bundle, const RanksRecord& record) {
  return write_record(bundle, kRanksFile, record);
}

std::string rank_folder_name(uint64_t rank) { return fmt::format("{}{}", kRankFolder, rank); }

std::vector<RankFolder> rank_folders(const fs::path& folder) {
  std::vector<RankFolder> found;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end;
       entry.increment(trouble)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(kRankFolder) || !entry->is_directory(ignored)) continue;
    const auto rank = parse_int(std::string_view(name).substr(kRankFolder.size()));
    if (!rank || *rank < 0 || rank_folder_name(static_cast<uint64_t>(*rank)) != name) continue;
    found.push_back({static_cast<uint64_t>(*rank), entry->path()});
  }
  std::ranges::sort(found,
                    [](const RankFolder& a, const RankFolder& b) { return a.rank < b.rank; });
  return found;
}

RanksRecord read_ranks_record(const fs::path& folder, Diagnostics& diagnostics) {
  RanksRecord all;
  for (const RankFolder& of_rank : rank_folders(folder)) {
    auto record = read_one(of_rank.path, diagnostics);
    if (!record) continue;  // recorded by other means than --rank-folder
    all.finished = all.finished && record->finished;
    if (record->world_size) {
      all.world_size = std::max(all.world_size.value_or(0), *record->world_size);
    }
    for (RankRecord& rank : record->ranks) {
      if (rank.rank == of_rank.rank) all.ranks.push_back(std::move(rank));
    }
  }
  if (all.ranks.empty()) return read_one(folder, diagnostics).value_or(RanksRecord{});
  return all;
}

}  // namespace llmprof::session
