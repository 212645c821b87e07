// A log of several windows, which several threads decode.
#include <gtest/gtest.h>

#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_or_fail;
using testing::TestLog;
using wire::RecordType;

constexpr wire::StringKey kName = 1;
constexpr uint32_t kCode = 1;
constexpr wire::DefinitionKey kKind = 1;
// Chunks of 1 KiB: 18 windows and a part of another, so that each of the 9 window slots on a
// machine with many cores is used again.
constexpr uint32_t kRounds = 6300;
constexpr uint32_t kChunksARound = 3;
constexpr uint32_t kCallsAChunk = 20;

// Each round is a chunk of thread 1, one that thread 2 starts and thread 3 continues, and one of
// the GPU. Calls are numbered consecutively and start at ten times their number; their kernels
// start five later.
class LargeLog {
 public:
  LargeLog() {
    log_.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 1 + kRounds * kChunksARound});
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint32_t first = next_;
      log_.thread_chunk(1, 11);
      add_calls(kCallsAChunk);
      log_.thread_chunk(2, 12);
      add_calls(kCallsAChunk / 2);
      log_.add(RecordType::thread_info, wire::ThreadInfo{3, 13, "worker"});
      add_calls(kCallsAChunk / 2);
      log_.chunk(wire::ChunkKind::device, 0);
      add_kernels(first);
    }
    log_.add_text(kName, "name");
    log_.add(RecordType::api_name, wire::ApiName{kName, kCode});
    wire::KernelDefinition definition{};
    definition.key = kKind;
    definition.name = kName;
    log_.add(RecordType::kernel_definition, definition);
  }

  static uint32_t calls() { return kRounds * 2 * kCallsAChunk; }
  [[nodiscard]] std::string bytes() const { return log_.bytes(); }
  // Where a round's first chunk starts.
  static size_t place_of(uint32_t round) {
    return (1 + size_t{round} * kChunksARound) * wire::kSmallestChunkBytes;
  }
  static uint64_t thread_of(uint32_t call) {
    const uint32_t in_round = call % (2 * kCallsAChunk);
    if (in_round < kCallsAChunk) return 11;
    return in_round < kCallsAChunk + kCallsAChunk / 2 ? 12 : 13;
  }

 private:
  void add_calls(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i, ++next_) {
      const uint32_t duration_and_code = 3U | (kCode << wire::kLaunchDurationBits);
      log_.add(RecordType::launch, wire::Launch{int64_t{next_} * 10, duration_and_code, next_});
    }
  }
  void add_kernels(uint32_t first) {
    std::vector<wire::Kernel> kernels;
    for (uint32_t call = first; call < next_; ++call) {
      kernels.push_back({static_cast<int32_t>((call - first) * 10), 2, call, kKind});
    }
    log_.add_kernels(int64_t{first} * 10 + 5, kernels);
  }

  TestLog log_;
  uint32_t next_ = 1;
};

TEST(LargeCollectorLog, KeepsTheOrderOfTheFile) {
  const trace::Trace trace = read_or_fail(LargeLog().bytes());
  EXPECT_TRUE(trace.diagnostics.items().empty());
  ASSERT_EQ(trace.threads.size(), 3U);
  ASSERT_EQ(trace.launches.size(), LargeLog::calls());
  ASSERT_EQ(trace.kernels.size(), LargeLog::calls());
  for (uint32_t i = 0; i < LargeLog::calls(); ++i) {
    ASSERT_EQ(trace.launches.correlation[i], i + 1);
    ASSERT_EQ(trace.launches.start[i], (int64_t{i} + 1) * 10);
    ASSERT_EQ(trace.threads[trace.launches.thread[i].index()].tid, LargeLog::thread_of(i));
    ASSERT_EQ(trace.kernels.correlation[i], i + 1);
    ASSERT_EQ(trace.kernels.start[i], (int64_t{i} + 1) * 10 + 5);
    ASSERT_EQ(trace.kernels.launch[i], trace::LaunchRow(i));
  }
}

// One flipped bit in each of two windows loses the thread's name and one launch; the cut loses the
// last rounds.
TEST(LargeCollectorLog, CountsDamageOfAllWindows) {
  constexpr uint32_t kDamagedHeader = 500;
  constexpr uint32_t kDamagedCall = 1000;
  constexpr uint32_t kCutRound = 1100;
  const size_t first_call =
      sizeof(wire::ChunkHeader) + wire::record_bytes<wire::ThreadInfo>() + sizeof(uint64_t);
  std::string bytes = LargeLog().bytes();
  bytes[LargeLog::place_of(kDamagedHeader)] ^= 1;
  bytes[LargeLog::place_of(kDamagedCall) + first_call] ^= 1;
  bytes.resize(LargeLog::place_of(kCutRound) + 1);
  const trace::Trace trace = read_or_fail(bytes);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_chunks"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_records"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_truncated"), 1U);
  // The definition of all kernels was after the cut.
  EXPECT_EQ(count_of(trace, "collector_log_lost_definitions"), kCutRound * 2 * kCallsAChunk);
  EXPECT_EQ(trace.launches.size(), kCutRound * 2 * kCallsAChunk - 1);
  EXPECT_EQ(trace.threads.size(), 3U);
}

// Every checksum includes the chunk's number: a window with wrong numbers would lose all its
// chunks.
TEST(LargeCollectorLog, LosesChunksThatChangedPlaces) {
  std::string bytes = LargeLog().bytes();
  const auto chunk = [&](uint32_t round) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(LargeLog::place_of(round));
  };
  std::swap_ranges(chunk(10), chunk(10) + wire::kSmallestChunkBytes, chunk(1150));
  const trace::Trace trace = read_or_fail(bytes);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_chunks"), 2U);
  EXPECT_EQ(trace.launches.size(), LargeLog::calls() - 2 * kCallsAChunk);
  EXPECT_EQ(count_of(trace, "kernels_without_launch"), 2 * kCallsAChunk);
}

}  // namespace
}  // namespace llmprof::readers
