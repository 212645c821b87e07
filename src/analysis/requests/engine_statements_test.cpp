#include "analysis/requests/engine_statements.h"

#include <gtest/gtest.h>

#include "testing/hand_made_trace.h"
#include "trace/append.h"

namespace llmprof::analysis {
namespace {

using trace::kNoCount;
using trace::kNoTime;

// Batches of 100 ns, one after the other from 1000 on, and the requests of a file.
class StatedLoad {
 public:
  StatedLoad() {
    made_.kernel("gemm", 990, 1000, 1100);
    made_.builder().trace().request_files.emplace_back().id_prefix = "llmprof-";
    requests_.state = profile::JoinState::joined;
    for (Nanoseconds start = 1000; start < 2000; start += 100) {
      EngineBatch& batch = engine_.batches.emplace_back();
      batch.begin = start;
      batch.end = {start + 90, start + 95};
    }
  }

  // A token in each of these batches.
  StatedLoad& request(std::string_view id, const std::vector<uint32_t>& batches,
                      Nanoseconds queued = kNoTime) {
    trace::TraceBuilder& builder = made_.builder();
    trace::add_row(builder.trace().requests, 0U, builder.string(id), kNoTime, Nanoseconds{500},
                   Nanoseconds{2000}, kNoCount, kNoCount, kNoCount, trace::RequestStatus::completed,
                   0U, kNoTime, queued, false);
    client_.requests.push_back(
        {500, static_cast<uint32_t>(client_.chunks.size()), static_cast<uint32_t>(batches.size())});
    client_.counted.push_back(true);
    for (const uint32_t batch : batches) {
      client_.chunks.push_back({engine_.batches[batch].end.results_read + 5, 1});
      join_.batch.push_back(batch);
      join_.state.push_back(ChunkState::joined);
    }
    return *this;
  }
  StatedLoad& range(std::string_view text, Nanoseconds start, Nanoseconds end,
                    trace::ThreadId on = {}) {
    made_.range(text, start, end, trace::RangeKind::start_end, on);
    return *this;
  }
  trace::ThreadId other_process() { return made_.thread(made_.process(2), 1); }

  Confirmation confirm(const std::vector<PromptPart>& parts = {}) {
    made_.builder().begin_capture("requests.json", "requests", "");
    made_.builder().trace().request_files.front().capture = made_.builder().capture_id();
    const trace::Trace trace = made_.freeze();
    requests_.last = trace.requests.size();
    engine_.gpu.first = trace.threads.front().process;
    return engine_statements(trace, requests_, client_, engine_, join_, parts);
  }

 private:
  testing::HandMadeTrace made_;
  EngineBatches engine_;
  ClientRequests requests_;
  ClientTokens client_;
  TokenJoin join_;
};

TEST(EngineStatementsTest, ARangeWithTheIdHoldsTheBatchesOfTheRequest) {
  StatedLoad load;
  load.request("3", {1, 2, 3}).range("request llmprof-3", 1105, 1295);
  const Confirmation found = load.confirm();
  EXPECT_EQ(found.confirmed, 2U);
  EXPECT_EQ(found.contradicted, 1U);
}

// As of steps that list their requests. A step without the id is not one of the request's.
TEST(EngineStatementsTest, ARangeMayNameSeveralRequests) {
  StatedLoad load;
  load.request("3", {1, 2}).request("4", {1, 2});
  load.range("step ids=[llmprof-3,llmprof-4]", 1105, 1190)
      .range("step ids=[llmprof-4]", 1205, 1290);
  const Confirmation found = load.confirm();
  EXPECT_EQ(found.confirmed, 3U);
  EXPECT_EQ(found.contradicted, 1U);
}

TEST(EngineStatementsTest, WithoutRangesOfTheEngineNothingIsKnown) {
  StatedLoad load;
  load.request("3", {1, 2}).request("1", {1});
  load.range("request llmprof-33", 0, 5000).range("step 3", 0, 5000).range("llmprof-3x", 0, 5000);
  load.range("request llmprof-3", 0, 5000, load.other_process());
  EXPECT_FALSE(load.confirm().is_known());
}

TEST(EngineStatementsTest, RequestsOfOneIdAreNotDistinguished) {
  StatedLoad load;
  load.request("3", {1}).request("3", {2}).range("request llmprof-3", 1105, 1190);
  EXPECT_FALSE(load.confirm().is_known());
}

// The first parts of the prompts are in batches 3 and 6, which are prepared while 2 and 5 run. The
// first request was begun at 1250, the second one at 1150, long before its batch.
TEST(EngineStatementsTest, TheEnginesQueueTimeConfirmsTheFirstBatch) {
  StatedLoad load;
  load.request("3", {4, 5}, 750).request("4", {7, 8}, 650);
  const Confirmation found = load.confirm({{0, 3, 0, 10}, {0, 4, 0, 10}, {0, 6, 1, 10}});
  EXPECT_EQ(found.confirmed, 1U);
  EXPECT_EQ(found.contradicted, 1U);
}

}  // namespace
}  // namespace llmprof::analysis
