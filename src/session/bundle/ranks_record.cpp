#include "session/bundle/ranks_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "config/config_tree.h"
#include "session/options/node_text.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRanksFile = "ranks.json";
constexpr std::string_view kRankFolder = "rank";
constexpr size_t kLargestRanksFile = 64UL << 20U;
constexpr uint64_t kHighestRank = 1'000'000;

Result<config::ConfigDocument> read_ranks_document(const fs::path& file) {
  auto stream = open_byte_stream(file);
  if (!stream) return fail_with(stream.error());
  const auto text = read_all(**stream, kLargestRanksFile);
  if (!text) return fail_with(text.error().within(file.string()));
  return config::parse_json(*text, file.string());
}

std::optional<uint64_t> rank_count(const config::ConfigNode& map, std::string_view key) {
  const config::ConfigNode* node = map.find(key);
  const auto number = node == nullptr ? std::nullopt : node->integer();
  if (!number || *number < 0 || static_cast<uint64_t>(*number) > kHighestRank) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::string known_state(const std::string& written) {
  for (const std::string_view state : {kRankDied, kRankMissing}) {
    if (written == state) return written;
  }
  return std::string(kRankRecorded);
}

// None where there is no such file.
std::optional<RanksRecord> read_one(const fs::path& folder, Diagnostics& diagnostics) {
  const fs::path file = folder / kRanksFile;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  const auto document = read_ranks_document(file);
  if (!document) {
    diagnostics.warn("ranks_record_unreadable", document.error().message);
    return std::nullopt;
  }
  RanksRecord record;
  record.world_size = rank_count(document->root, "world_size");
  const config::ConfigNode* finished = document->root.find("finished");
  record.finished = finished == nullptr || finished->boolean().value_or(true);
  const config::ConfigNode* rows = document->root.find("ranks");
  if (rows == nullptr || !rows->is_list()) return record;
  for (const config::ConfigNode& row : rows->children) {
    const auto rank = rank_count(row, "rank");
    if (rank)
      record.ranks.push_back({*rank, known_state(text_of(row, "state")), text_of(row, "detail")});
  }
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
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const RankRecord& rank : record.ranks) {
    Json row = {{"rank", rank.rank}, {"state", rank.state}};
    if (!rank.detail.empty()) row["detail"] = rank.detail;
    rows.push_back(std::move(row));
  }
  const Json json = {{"world_size", record.world_size ? Json(*record.world_size) : Json()},
                     {"finished", record.finished},
                     {"ranks", std::move(rows)}};
  return bundle.write(kRanksFile, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
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
