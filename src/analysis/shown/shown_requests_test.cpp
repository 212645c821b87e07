#include <gtest/gtest.h>

#include "analysis/shown/shown_times.h"

namespace llmprof::analysis::shown {
namespace {

using profile::Milliseconds;
using profile::RequestPart;
using profile::Requests;
using profile::Share;

TEST(ShownRequests, PartsAreMeansPerCompletedRequestLargestFirst) {
  Requests requests;
  requests.completed = 4;
  requests.parts = {{RequestPart::queue, {2'000'000}}, {RequestPart::own_decode, {6'000'000}}};
  show_requests(requests);
  ASSERT_EQ(requests.shown.parts.size(), 2U);
  EXPECT_EQ(requests.shown.parts[0].part, RequestPart::own_decode);
  EXPECT_EQ(requests.shown.parts[0].mean, Milliseconds{1.5});
  EXPECT_EQ(requests.shown.parts[0].share, Share{0.75});
  EXPECT_EQ(requests.shown.parts[1].mean, Milliseconds{0.5});
  EXPECT_EQ(requests.shown.parts[1].share, Share{0.25});
}

TEST(ShownRequests, WithoutPartsOrCompletedOnesHaveNone) {
  Requests requests;
  requests.completed = 4;
  show_requests(requests);
  EXPECT_TRUE(requests.shown.parts.empty());
  requests.completed = 0;
  requests.parts = {{RequestPart::queue, {2'000'000}}};
  show_requests(requests);
  EXPECT_TRUE(requests.shown.parts.empty());
  EXPECT_TRUE(requests.shown.recording.empty());
}

TEST(ShownRequests, RecordingAddsTheDifferenceOverTheUnrecordedLoad) {
  Requests requests;
  requests.itl.p50 = Milliseconds{5};
  requests.itl.p99 = Milliseconds{30};
  requests.ttft.p50 = Milliseconds{12};
  profile::UnrecordedRequests& alone = requests.unrecorded.emplace();
  alone.itl.p50 = Milliseconds{4};
  alone.itl.p99 = Milliseconds{40};
  show_requests(requests);
  ASSERT_EQ(requests.shown.recording.size(), 4U);
  EXPECT_EQ(requests.shown.recording[0].figure, profile::RequestFigure::ttft);
  EXPECT_FALSE(requests.shown.recording[0].p50);
  EXPECT_EQ(requests.shown.recording[1].p50, Share{0.25});
  EXPECT_EQ(requests.shown.recording[1].p99, Share{-0.25});
}

}  // namespace
}  // namespace llmprof::analysis::shown
