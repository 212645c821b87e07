#include "cpu_llm/kept_peaks.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/files.h"
#include "testing/temporary_folder.h"

namespace cpu_llm {
namespace {

constexpr int64_t kNow = 1'794'947'428;  // 2026-11-17 20:30:28 UTC
constexpr int64_t kDay = 24L * 60 * 60;

PeakKey neoverse() { return {"Neoverse-V1", 2, 2, 32U << 20U, "OpenBLAS 0.3.21 neoversev1"}; }

Peaks peaks(double gflops, double gbytes) {
  return {gflops * 1e9, gbytes * 1e9, gbytes * 0.8e9, "how", ""};
}

TEST(KeptPeaks, TheFirstRunHasItsOwnAndKeepsThem) {
  const llmprof::testing::TemporaryFolder folder;
  const SettledPeaks first = settle_peaks(peaks(120, 57), neoverse(), folder.path() / "new", kNow);
  EXPECT_EQ(first.from, "this_run");
  EXPECT_EQ(first.measured_at, "2026-11-17 20:30:28 UTC");
  EXPECT_EQ(first.note, "");
  // A disturbed measurement is recognized by what is kept.
  const SettledPeaks second =
      settle_peaks(peaks(60.7, 28), neoverse(), folder.path() / "new", kNow + kDay);
  EXPECT_EQ(second.used.flops_per_s, 120e9);
  EXPECT_EQ(second.used.read_bytes_per_s, 57e9);
  EXPECT_EQ(second.own.flops_per_s, 60.7e9);
  EXPECT_EQ(second.from, "kept");
  EXPECT_EQ(second.measured_at, "2026-11-17 20:30:28 UTC");
  EXPECT_NE(second.note.find("60.7 GFLOP/s and 28.0 GB/s"), std::string::npos);
  // One of them higher: the best of both, and it is kept.
  const SettledPeaks third =
      settle_peaks(peaks(122, 56), neoverse(), folder.path() / "new", kNow + kDay);
  EXPECT_EQ(third.used.flops_per_s, 122e9);
  EXPECT_EQ(third.used.read_bytes_per_s, 57e9);
  EXPECT_EQ(third.from, "both");
  EXPECT_EQ(third.note, "");
  EXPECT_EQ(third.measured_at, "2026-11-18 20:30:28 UTC");
}

TEST(KeptPeaks, AnotherMachineLibraryOrNumberOfThreadsHasItsOwn) {
  const llmprof::testing::TemporaryFolder folder;
  settle_peaks(peaks(120, 57), neoverse(), folder.path(), kNow);
  std::vector<PeakKey> others(5, neoverse());
  others[0].cpu = "Neoverse-N1";
  others[1].threads = 1;
  others[2].library = "OpenBLAS 0.3.30 neoversev1";
  others[3].last_level_cache_bytes = 1;
  others[4].cpus = 64;
  for (const PeakKey& other : others) {
    EXPECT_EQ(settle_peaks(peaks(60, 28), other, folder.path(), kNow).used.flops_per_s, 60e9);
  }
  EXPECT_EQ(settle_peaks(peaks(60, 28), neoverse(), folder.path(), kNow).used.flops_per_s, 120e9);
}

TEST(KeptPeaks, ADoubtfulMeasurementIsUsedAndNotKept) {
  const llmprof::testing::TemporaryFolder folder;
  Peaks own = peaks(60, 28);
  own.doubt = "its threads ran for 50 % of the time";
  const SettledPeaks settled = settle_peaks(own, neoverse(), folder.path(), kNow);
  EXPECT_EQ(settled.used.flops_per_s, 60e9);
  EXPECT_EQ(settled.note, own.doubt);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "cpu_peaks.json"));
}

TEST(KeptPeaks, WhatIsOldOrDamagedIsNotUsed) {
  const llmprof::testing::TemporaryFolder folder;
  settle_peaks(peaks(120, 57), neoverse(), folder.path(), kNow);
  EXPECT_EQ(settle_peaks(peaks(60, 28), neoverse(), folder.path(), kNow + 91 * kDay).from,
            "this_run");
  for (const char* damage :
       {"", "{", "[]", R"({"machines": 7})", R"({"machines": [{"cpu": 3}]})"}) {
    std::ofstream(folder.path() / "cpu_peaks.json") << damage;
    EXPECT_EQ(settle_peaks(peaks(60, 28), neoverse(), folder.path(), kNow).from, "this_run");
    // It is whole again.
    EXPECT_EQ(settle_peaks(peaks(50, 20), neoverse(), folder.path(), kNow).from, "kept");
  }
}

TEST(KeptPeaks, AFolderThatCannotBeUsedIsNone) {
  const llmprof::testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "no folder";
  for (const auto& place : {std::optional<std::filesystem::path>(folder.path() / "file" / "in"),
                            std::optional<std::filesystem::path>()}) {
    const SettledPeaks settled = settle_peaks(peaks(60, 28), neoverse(), place, kNow);
    EXPECT_EQ(settled.used.flops_per_s, 60e9);
    EXPECT_EQ(settled.from, "this_run");
  }
}

TEST(KeptPeaks, RunsAtTheSameTimeKeepTheBest) {
  const llmprof::testing::TemporaryFolder folder;
  std::vector<std::thread> runs;
  runs.reserve(8);
  for (int i = 0; i < 8; ++i) {
    runs.emplace_back(
        [&, i] { settle_peaks(peaks(100 + i, 50 + i), neoverse(), folder.path(), kNow); });
  }
  for (std::thread& run : runs) run.join();
  const auto text = llmprof::file_content(folder.path() / "cpu_peaks.json");
  ASSERT_TRUE(text);
  const auto json = nlohmann::json::parse(*text);
  ASSERT_EQ(json.at("machines").size(), 1U);
  EXPECT_EQ(json.at("machines")[0].at("flops").at("per_second"), 107e9);
}

TEST(Doubt, NeedsRoundsThatAgreeAndThreadsThatRan) {
  EXPECT_EQ(doubt_of({100, 40, 0.99}), "");
  EXPECT_NE(doubt_of({100, 2, 0.99}), "");
  EXPECT_NE(doubt_of({3, 1, 0.99}), "");
  EXPECT_EQ(doubt_of({3, 3, 0.99}), "");
  EXPECT_NE(doubt_of({100, 40, 0.5}), "");
}

}  // namespace
}  // namespace cpu_llm
