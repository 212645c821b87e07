#include "session/bundle/records.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

std::string text(const RanksRecord& record) {
  std::string all = record.world_size ? std::to_string(*record.world_size) : "?";
  for (const RankRecord& rank : record.ranks) {
    all += " " + std::to_string(rank.rank) + ":" + std::string(to_string(rank.state));
    if (rank.detail) all += "(" + *rank.detail + ")";
  }
  return all;
}

void write_in(const testing::TemporaryFolder& folder, const std::string& subfolder,
              const std::string& name, const std::string& content) {
  std::filesystem::create_directories(folder.path() / subfolder);
  folder.write(subfolder + "/" + name, content);
}

std::string read_text(const testing::TemporaryFolder& folder) {
  Diagnostics trouble;
  const RanksRecord record = read_ranks_record(folder.path(), trouble);
  EXPECT_TRUE(trouble.items().empty());
  return text(record) + (record.finished ? "" : " unfinished");
}

TEST(RanksRecord, IsReadAsItWasWritten) {
  const testing::TemporaryFolder folder;
  const Artifacts bundle(folder.path());
  RanksRecord record;
  record.world_size = 3;
  record.ranks = {{0, RankState::recorded, {}},
                  {1, RankState::died, "signal 9 (Killed)"},
                  {2, RankState::missing, "no log"}};
  write_ranks_record(bundle, record);
  EXPECT_EQ(read_text(folder), "3 0:recorded 1:died(signal 9 (Killed)) 2:missing(no log)");
  EXPECT_EQ(record.not_recorded().size(), 2U);
}

TEST(RanksRecord, OfAFolderPerRankIsThatOfAllThatAreThere) {
  const testing::TemporaryFolder folder;
  write_in(folder, "rank10", "ranks.json",
           R"({"world_size": 12, "ranks": [{"rank": 10, "state": "recorded"}]})");
  for (const int rank : {0, 1, 3, 4, 5, 6, 7, 8, 9}) {
    write_in(folder, "rank" + std::to_string(rank), "ranks.json",
             R"({"world_size": 12, "ranks": [{"rank": )" + std::to_string(rank) +
                 R"(, "state": "recorded"}]})");
  }
  write_in(folder, "rank11", "ranks.json",
           R"({"world_size": 12, "finished": false,
                   "ranks": [{"rank": 11, "state": "died", "detail": "d"}]})");
  write_in(folder, "rank02", "ranks.json", R"({"ranks": [{"rank": 2, "state": "recorded"}]})");
  write_in(folder, "ranks", "other", "");
  EXPECT_EQ(read_text(folder),
            "12 0:recorded 1:recorded 3:recorded "
            "4:recorded 5:recorded 6:recorded 7:recorded 8:recorded 9:recorded 10:recorded "
            "11:died(d) unfinished");
}

TEST(RanksRecord, IsEmptyWhereNothingIsRecorded) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(read_text(folder), "?");
  write_in(folder, "rank0/collector", "1.llmtrace", "");
  EXPECT_EQ(read_text(folder), "?");
}

TEST(RanksRecord, SurvivesWhatIsNoRecord) {
  const testing::TemporaryFolder folder;
  for (const char* content :
       {R"({"world_size": -4, "ranks": []})", R"({"ranks": [{"rank": "x"}]})", "{\"ranks\": ["}) {
    folder.write("ranks.json", content);
    Diagnostics trouble;
    EXPECT_EQ(text(read_ranks_record(folder.path(), trouble)), "?");
    EXPECT_TRUE(trouble.has("ranks_record_unreadable")) << content;
  }
  folder.write("ranks.json", R"({"world_size": 20000000, "ranks": [{"rank": 1, "state": "odd"}]})");
  EXPECT_EQ(read_text(folder), "? 1:recorded");
}

}  // namespace
}  // namespace llmprof::session
