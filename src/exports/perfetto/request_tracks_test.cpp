#include "exports/perfetto/request_tracks.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/sample_profile.h"

namespace llmprof::exports {
namespace {

// The requests of the sample, and the steps that made their tokens.
struct ServedRequests {
  ServedRequests() {
    for (const profile::RequestBatch& batch : requests.batches) {
      analysis::Step& step = results.stages.steps.emplace_back();
      step.start = to_nanoseconds(batch.start);
      step.end = to_nanoseconds(batch.end);
    }
  }
  [[nodiscard]] ExportSource source() const {
    ExportSource made{trace, results};
    made.profile = &profile;
    return made;
  }

  trace::Trace trace;
  analysis::Results results;
  profile::Profile profile = testing::requests_sample();
  profile::Requests& requests = *profile.requests;
};

TEST(RequestTracks, HaveAFlowForEachJoinedToken) {
  const ServedRequests served;
  const RequestTracks tracks(served.source(), 100);
  EXPECT_EQ(tracks.next_flow() - 100, served.requests.join.tokens_joined);
  std::set<uint64_t> flows;
  for (size_t step = 0; step < served.results.stages.steps.size(); ++step) {
    for (const uint64_t flow : tracks.of_step(step).begins) EXPECT_TRUE(flows.insert(flow).second);
    for (const uint64_t flow : tracks.of_step(step).ends) EXPECT_TRUE(flows.insert(flow).second);
  }
  EXPECT_EQ(flows.size(), served.requests.join.tokens_joined);
}

// "early" was sent at 0 ms and waits 0.25 ms in the queue; its first step starts at 0 ms, its
// second at 3 ms, after its first token at 2.2 ms.
TEST(RequestTracks, FlowsBeginAtTheSliceThatStartsFirst) {
  const ServedRequests served;
  const RequestTracks tracks(served.source(), 1);
  EXPECT_EQ(tracks.of_step(0).begins.size(), 1U);
  EXPECT_EQ(tracks.of_step(0).ends.size(), 0U);
  EXPECT_EQ(tracks.of_step(1).ends.size(), 1U);
  EXPECT_EQ(tracks.of_step(7).begins.size(), 0U);
}

TEST(RequestTracks, NeedRequestsOnTheClockOfTheCapture) {
  ServedRequests served;
  EXPECT_EQ(first_sent(served.source()), 0);
  served.requests.join.state = profile::JoinState::other_clock;
  EXPECT_EQ(first_sent(served.source()), INT64_MAX);
  EXPECT_EQ(RequestTracks(served.source(), 1).next_flow(), 1U);
  EXPECT_EQ(first_sent({served.trace, served.results}), INT64_MAX);
}

TEST(RequestTracks, IgnoreBatchesAndStepsThatDoNotExist) {
  ServedRequests served;
  served.requests.items[0].token_batches = {900, -1, 2, 3};
  served.requests.batches[2].first_step = 900;
  served.requests.batches[3].steps = 0;
  const RequestTracks tracks(served.source(), 1);
  EXPECT_EQ(tracks.next_flow() - 1, 1U);  // the first token of "late"
}

}  // namespace
}  // namespace llmprof::exports
