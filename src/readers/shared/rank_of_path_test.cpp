#include "readers/shared/tool_words.h"

#include <gtest/gtest.h>

namespace llmprof::readers {
namespace {

TEST(RankOfPath, IsReadFromFileNames) {
  EXPECT_EQ(rank_of_path("sampled_rank-0.json.gz"), 0U);
  EXPECT_EQ(rank_of_path("a/large_integer_rank-70.pt.trace.json.gz"), 70U);
  EXPECT_EQ(rank_of_path("inference_rank_1.json.gz"), 1U);
  EXPECT_EQ(rank_of_path("report_rank12.sqlite"), 12U);
  EXPECT_EQ(rank_of_path("report.rank3.sqlite"), 3U);
  EXPECT_EQ(rank_of_path("Rank7.json"), 7U);
  EXPECT_EQ(rank_of_path("dp0_pp0_tp1_dcp0_ep1_rank5.1764000000.pt.trace.json.gz"), 5U);
  EXPECT_EQ(rank_of_path("1764000000.12-TP-3.trace.json.gz"), 3U);
  EXPECT_EQ(rank_of_path("1764000000.12-TP-3-DP-0-EP-1.trace.json.gz"), 3U);
  EXPECT_EQ(rank_of_path("resnet50_worker0.1623143089861.pt.trace.json"), 0U);
  EXPECT_EQ(rank_of_path("rank1_of_rank2.json"), 2U);
}

TEST(RankOfPath, IsReadFromFolders) {
  EXPECT_EQ(rank_of_path("job/rank3/collector/17.llmtrace"), 3U);
  EXPECT_EQ(rank_of_path("job/rank-2/run.sqlite"), 2U);
  EXPECT_EQ(rank_of_path("job/rank3/rank4.json"), 4U);
  EXPECT_FALSE(rank_of_path("job/rank3_results/run.sqlite"));
}

TEST(RankOfPath, IsNoneWhereNothingSaysIt) {
  for (const char* path :
       {"trace.json", "frank0.json", "ranking3.json", "rank.json", "rank-.json", "rank0x.json",
        "http-3.json", "rank12345678.json", "workers3.json", "worker.json", ""}) {
    EXPECT_FALSE(rank_of_path(path)) << path;
  }
}

}  // namespace
}  // namespace llmprof::readers
