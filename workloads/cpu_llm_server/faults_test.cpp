#include "cpu_llm_server/faults.h"

#include <gtest/gtest.h>

namespace cpu_llm_server {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;
constexpr FaultSchedule::Running kDecoding = {true, true};

TEST(CpuLlmFaults, AreReadFromTexts) {
  const auto pause = parse_fault("pause=at:2.5s,for:80ms");
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->kind, FaultKind::pause);
  EXPECT_EQ(pause->at_ns, 2500 * kMillisecond);
  EXPECT_EQ(pause->for_ns, 80 * kMillisecond);
  const auto evict = parse_fault("evict=at:300ms");
  ASSERT_TRUE(evict);
  EXPECT_EQ(evict->at_ns, 300 * kMillisecond);
  EXPECT_EQ(evict->for_ns, 100 * kMillisecond);
  const auto slow = parse_fault("slow_layer=at:2s,for:1s,layer:3,by:2.5x");
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->slow.layer, 3U);
  EXPECT_DOUBLE_EQ(slow->slow.by, 2.5);
}

TEST(CpuLlmFaults, WrongTextsAreRefusedWithTheForms) {
  for (const char* text :
       {"", "pause", "crash=at:2s,for:1s", "pause=at:2s", "pause=at:2,for:1s",
        "pause=at:-2s,for:1s", "pause=at:2s,for:1s,layer:1",
        "slow_layer=at:2s,for:1s,layer:1,by:0.5x", "slow_layer=at:2s,for:1s,layer:1,by:3",
        "slow_layer=at:2s,for:1s,layer:-1,by:3x", "pause=at:nans,for:1s", "pause=at:1e99s,for:1s",
        "pause=at", "pause=s:s"}) {
    const auto fault = parse_fault(text);
    ASSERT_FALSE(fault) << text;
    EXPECT_EQ(fault.error().kind, llmprof::ErrorKind::usage);
    EXPECT_NE(fault.error().message.find("pause=at:2s,for:80ms"), std::string::npos) << text;
  }
}

TEST(CpuLlmFaults, NothingHappensBeforeTheFirstRequest) {
  FaultSchedule schedule({*parse_fault("pause=at:0s,for:1s")});
  EXPECT_TRUE(schedule.changes_at(100 * kSecond, kDecoding).begin.empty());
  schedule.first_request_at(200 * kSecond);
  EXPECT_EQ(schedule.changes_at(200 * kSecond, kDecoding).begin.size(), 1U);
  EXPECT_TRUE(schedule.changes_at(300 * kSecond, kDecoding).begin.empty());  // once
}

TEST(CpuLlmFaults, TimesCountFromTheFirstRequest) {
  FaultSchedule schedule({*parse_fault("pause=at:2s,for:1s")});
  schedule.first_request_at(10 * kSecond);
  schedule.first_request_at(11 * kSecond);
  EXPECT_TRUE(schedule.changes_at(12 * kSecond - 1, kDecoding).begin.empty());
  EXPECT_EQ(schedule.changes_at(12 * kSecond, kDecoding).begin.size(), 1U);
}

TEST(CpuLlmFaults, APauseWaitsForARunningRequestAndASlowLayerDoesNot) {
  FaultSchedule schedule(
      {*parse_fault("pause=at:1s,for:1s"), *parse_fault("slow_layer=at:1s,for:1s,layer:0,by:2x")});
  schedule.first_request_at(0);
  const auto first = schedule.changes_at(kSecond, {});
  ASSERT_EQ(first.begin.size(), 1U);
  EXPECT_EQ(first.begin[0].kind, FaultKind::slow_layer);
  const auto second = schedule.changes_at(kSecond + 5, kDecoding);
  ASSERT_EQ(second.begin.size(), 1U);
  EXPECT_EQ(second.begin[0].kind, FaultKind::pause);
}

TEST(CpuLlmFaults, AnEvictionWaitsForARequestInDecode) {
  FaultSchedule schedule({*parse_fault("evict=at:1s,for:1s")});
  schedule.first_request_at(0);
  EXPECT_TRUE(schedule.changes_at(kSecond, {.any = true}).begin.empty());
  EXPECT_EQ(schedule.changes_at(kSecond + 5, kDecoding).begin.size(), 1U);
}

TEST(CpuLlmFaults, TheyEndAfterTheirTime) {
  FaultSchedule schedule({*parse_fault("evict=at:1s,for:2s"), *parse_fault("pause=at:1s,for:9s")});
  schedule.first_request_at(0);
  EXPECT_FALSE(schedule.next_end_ns());
  schedule.changes_at(kSecond + 7, kDecoding);
  EXPECT_EQ(schedule.next_end_ns(), 3 * kSecond + 7);
  EXPECT_TRUE(schedule.changes_at(3 * kSecond + 6, kDecoding).end.empty());
  const auto later = schedule.changes_at(3 * kSecond + 7, kDecoding);
  ASSERT_EQ(later.end.size(), 1U);
  EXPECT_EQ(later.end[0].kind, FaultKind::evict);
  EXPECT_FALSE(schedule.next_end_ns());
}

}  // namespace
}  // namespace cpu_llm_server
