#include "analysis/requests/client_requests.h"

#include <gtest/gtest.h>

#include "testing/hand_made_trace.h"
#include "trace/append.h"

namespace llmprof::analysis {
namespace {

using profile::JoinState;
using trace::kNoCount;
using trace::kNoTime;

constexpr std::string_view kBoot = "3d79c6fb-8838-e918-5193-3fe6bfedd8a7";

// Work from 1000 to 2000 ns on the capture's clock, and files with one request each.
class TraceOfRequests {
 public:
  TraceOfRequests() {
    made_.kernel("gemm", 990, 1000, 1100);
    made_.kernel("gemm", 1890, 1900, 2000);
  }

  trace::Capture& capture() { return made_.builder().trace().captures.front(); }

  trace::RequestFile& file(Nanoseconds sent, Nanoseconds end,
                           trace::RequestClock clock = trace::RequestClock::monotonic,
                           std::optional<int64_t> unix_at_0 = {}) {
    trace::TraceBuilder& builder = made_.builder();
    builder.begin_capture("requests.json", "requests", "");
    builder.capture().wall_clock_ns = unix_at_0;
    trace::Trace& trace = builder.trace();
    const auto file = static_cast<uint32_t>(trace.request_files.size());
    trace::RequestFile& added = trace.request_files.emplace_back();
    added.capture = builder.capture_id();
    added.clock = clock;
    trace::add_row(trace.requests, file, trace::StringId(), kNoTime, sent, end, kNoCount, kNoCount,
                   kNoCount, trace::RequestStatus::completed,
                   static_cast<uint32_t>(trace.chunks.size()), end, kNoTime, false);
    return trace.request_files.back();
  }

  std::vector<ClientRequests> files() {
    trace_ = made_.freeze();
    return client_requests(trace_);
  }

 private:
  testing::HandMadeTrace made_;
  trace::Trace trace_;
};

TEST(ClientRequests, MonotonicTimesFitCapturesOfTheSameBoot) {
  TraceOfRequests made;
  made.capture().clock_domain = kBoot;
  made.capture().clock_ns = 500;
  made.file(1600, 1700).boot_id = kBoot;
  const auto files = made.files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].state, JoinState::joined);
  EXPECT_EQ(files[0].shift, -500);
  EXPECT_EQ(files[0].capture.index(), 0U);
}

TEST(ClientRequests, AnotherBootIsAnotherClock) {
  TraceOfRequests made;
  made.capture().clock_domain = std::string(kBoot) + "/time:[4026532999]";
  made.capture().clock_ns = 0;
  made.file(1600, 1700).boot_id = "00000000-8838-e918-5193-3fe6bfedd8a7";
  made.file(1600, 1700).boot_id = kBoot;
  const auto files = made.files();
  EXPECT_EQ(files[0].state, JoinState::other_clock);
  EXPECT_EQ(files[1].state, JoinState::joined);
  EXPECT_EQ(choose_requests(files).recorded, &files[1]);
}

TEST(ClientRequests, WithoutABootTheRequestsMustOverlapTheWork) {
  TraceOfRequests made;
  made.capture().clock_domain = kBoot;
  made.capture().clock_ns = 0;
  made.file(2001, 2100);
  made.file(1999, 2100);
  made.file(900, 999);
  made.file(900, 1000);
  const auto files = made.files();
  EXPECT_EQ(files[0].state, JoinState::outside_of_capture);
  EXPECT_EQ(files[1].state, JoinState::joined);
  EXPECT_EQ(files[2].state, JoinState::outside_of_capture);
  EXPECT_EQ(files[3].state, JoinState::joined);
  const ChosenRequests chosen = choose_requests(files);
  EXPECT_EQ(chosen.recorded, &files[1]);
  EXPECT_EQ(chosen.unrecorded, &files[0]);
}

TEST(ClientRequests, UnixTimesFitCapturesThatStateTheirs) {
  TraceOfRequests made;
  made.capture().wall_clock_ns = 1'700'000'000'000'000'000;
  made.file(1'700'000'000'000'001'500, 1'700'000'000'000'001'700, trace::RequestClock::wall);
  // CLOCK_MONOTONIC, with the Unix time at its 0.
  made.file(200, 400, trace::RequestClock::monotonic, 1'700'000'000'000'001'000);
  made.file(200, 400, trace::RequestClock::monotonic);
  const auto files = made.files();
  EXPECT_EQ(files[0].state, JoinState::joined);
  EXPECT_EQ(files[0].shift, -1'700'000'000'000'000'000);
  EXPECT_EQ(files[1].state, JoinState::joined);
  EXPECT_EQ(files[1].shift, 1000);
  EXPECT_EQ(files[2].state, JoinState::no_clock);
}

TEST(ClientRequests, ClocksThatNothingRelatesAreNoClock) {
  TraceOfRequests made;
  made.file(1500, 1700);
  made.file(1500, 1700, trace::RequestClock::wall);
  made.file(1500, 1700, trace::RequestClock::none);
  for (const ClientRequests& file : made.files()) EXPECT_EQ(file.state, JoinState::no_clock);
}

TEST(ClientRequests, OurEarlyLogsDoNotNameTheirBoot) {
  TraceOfRequests made;
  made.capture().tool = trace::kCollectorTool;
  made.file(1500, 1700).boot_id = kBoot;
  EXPECT_EQ(made.files()[0].state, JoinState::joined);
}

TEST(ClientRequests, FilesWithoutTokenTimesAreNotJoined) {
  TraceOfRequests made;
  made.capture().clock_ns = 0;
  made.file(1500, 1700).chunks_complete = false;
  const auto files = made.files();
  EXPECT_EQ(files[0].state, JoinState::no_token_times);
  EXPECT_EQ(choose_requests(files).recorded, &files[0]);
}

TEST(ClientRequests, NeedWork) {
  trace::TraceBuilder builder;
  builder.begin_capture("requests.json", "requests", "");
  builder.trace().request_files.emplace_back().capture = builder.capture_id();
  trace::add_row(builder.trace().requests, 0U, trace::StringId(), kNoTime, 5, 6);
  const trace::Trace trace = std::move(builder).freeze();
  const auto files = client_requests(trace);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].state, JoinState::no_steps);
  EXPECT_EQ(choose_requests(files).recorded, files.data());
  EXPECT_EQ(choose_requests({}).recorded, nullptr);
}

}  // namespace
}  // namespace llmprof::analysis
