#include "analysis/requests/slowest_gaps.h"

#include <gtest/gtest.h>

#include <array>

#include "testing/joined_load.h"

namespace llmprof::analysis {
namespace {

constexpr auto kNoBatchKnown = [](uint32_t) { return int64_t{-1}; };

// All intervals of a request, without their parts.
void add_all(SlowestGaps& gaps, const JoinedLoad& load, uint32_t request) {
  Nanoseconds start = load.client.requests[request].sent;
  for (uint32_t chunk = 0; chunk <= load.client.requests[request].chunks; ++chunk) {
    const bool last = chunk == load.client.requests[request].chunks;
    RequestInterval interval;
    interval.chunk = chunk;
    interval.start = start;
    interval.end = last ? load.client.ends[request] : load.client.time(request, chunk);
    start = interval.end;
    gaps.add(request, interval);
  }
}

// Gaps of 1 to 60, in another order, after a first token at 5, and 100,000 until the end.
TEST(SlowestGaps, AreTheLongestFiftyAndTheFirstTokensBesidesThem) {
  JoinedLoad load;
  std::vector<JoinedLoad::Chunk> chunks = {{0, 5}};
  for (Nanoseconds i = 0; i < 60; ++i) {
    chunks.push_back({0, chunks.back().time + (i * 7) % 60 + 1});
  }
  load.request(0, 4, 100'000, chunks);
  SlowestGaps gaps(load.client);
  add_all(gaps, load, 0);
  profile::Requests requests = JoinedLoad::named({"a"});
  gaps.write(requests, kNoBatchKnown);
  ASSERT_EQ(requests.slowest_gaps.size(), 51U);
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(requests.slowest_gaps[i].time.value, 60 - static_cast<Nanoseconds>(i));
    EXPECT_FALSE(requests.slowest_gaps[i].batch);
  }
  // 60 = (17 * 7) % 60 + 1
  EXPECT_EQ(requests.slowest_gaps[0].chunk, 18U);
  EXPECT_EQ(requests.slowest_gaps[50].time.value, 5);
  EXPECT_EQ(requests.slowest_gaps[50].chunk, 0U);
}

// Sixty first tokens after 101 to 160, and one gap of 3.
TEST(SlowestGaps, LongQueuesDoNotHideGaps) {
  JoinedLoad load;
  for (Nanoseconds i = 0; i < 60; ++i) load.request(0, 4, 200, {{0, 101 + i}});
  load.request(0, 4, 9, {{0, 4}, {0, 7}});
  SlowestGaps gaps(load.client);
  for (uint32_t request = 0; request < load.client.size(); ++request) {
    add_all(gaps, load, request);
  }
  profile::Requests requests = JoinedLoad::named(std::vector<std::string>(61, "a"));
  gaps.write(requests, kNoBatchKnown);
  ASSERT_EQ(requests.slowest_gaps.size(), 51U);
  EXPECT_EQ(requests.slowest_gaps[0].time.value, 160);
  EXPECT_EQ(requests.slowest_gaps[0].request, 59U);
  EXPECT_EQ(requests.slowest_gaps[49].time.value, 111);
  EXPECT_EQ(requests.slowest_gaps[50].time.value, 3);
  EXPECT_EQ(requests.slowest_gaps[50].request, 60U);
  EXPECT_EQ(requests.slowest_gaps[50].chunk, 1U);
}

TEST(SlowestGaps, NameBatchStepPartsAndWhoDelayed) {
  JoinedLoad load;
  load.request(0, 4, 4, {{0, 4}});
  load.request(1'000'000, 4, 6'000'000, {{0, 2'000'000}, {1, 5'000'000}});
  SlowestGaps gaps(load.client);
  const std::array<WaitFor, 3> waits = {{{2, 10}, {0, 30}, {2, 20}}};
  RequestInterval interval;
  interval.chunk = 1;
  interval.start = 2'000'000;
  interval.end = 5'000'000;
  interval.parts[static_cast<size_t>(RequestPart::host)] = 1'000'000;
  interval.parts[static_cast<size_t>(RequestPart::others_prefill)] = 2'000'000;
  interval.waits = waits;
  gaps.add(1, interval);
  profile::Requests requests = JoinedLoad::named({"a", "b", "c"});
  requests.batches.resize(3);
  requests.batches[2].first_step = 7;
  requests.batches[2].steps = 2;
  // The chunk's row among all chunks is 2.
  gaps.write(requests, [](uint32_t chunk) { return chunk == 2 ? int64_t{2} : int64_t{-1}; });
  ASSERT_EQ(requests.slowest_gaps.size(), 1U);
  const profile::RequestGap& gap = requests.slowest_gaps[0];
  EXPECT_EQ(gap.request, 1U);
  EXPECT_DOUBLE_EQ(gap.start.value, 2);
  EXPECT_EQ(gap.time.value, 3'000'000);
  EXPECT_EQ(gap.batch, 2U);
  EXPECT_EQ(gap.step, 8U);  // the last of its passes
  EXPECT_EQ(gap.most_delayed_by, "a");
  Nanoseconds sum = 0;
  for (const auto& [part, time] : gap.parts) sum += time.value;
  EXPECT_EQ(gap.parts.size(), 2U);
  EXPECT_EQ(sum, 3'000'000);
}

}  // namespace
}  // namespace llmprof::analysis
