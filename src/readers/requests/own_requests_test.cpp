#include <gtest/gtest.h>

#include <algorithm>

#include "readers/shared/reader.h"
#include "testing/readers/diagnostic_count.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using trace::kNoCount;
using trace::kNoTime;
using trace::RequestStatus;

trace::Trace read_own(const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = kOwnRequestsReader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}
trace::Trace read_own_fixture(std::string_view name) {
  return read_own(testing::test_data("requests") / name);
}
// `requests` are elements of the array.
std::string own_file(std::string_view requests) {
  return R"({"clock": "CLOCK_MONOTONIC ns", "requests": [)" + std::string(requests) + "]}";
}
trace::Trace read_own_text(std::string_view text) {
  const testing::TemporaryFolder folder;
  return read_own(folder.write("requests.json", text));
}
std::string own_refusal(std::string_view text) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto path = folder.write("requests.json", text);
  const auto done = kOwnRequestsReader.read(path, builder);
  EXPECT_FALSE(done);
  EXPECT_TRUE(builder.trace().captures.empty());
  EXPECT_TRUE(builder.trace().request_files.empty());
  if (done) return {};
  EXPECT_TRUE(done.error().message.starts_with(path.string()));
  return done.error().message;
}

TEST(OwnRequests, ReadsEveryFieldOfAFile) {
  const trace::Trace trace = read_own_fixture("llmprof.json");
  ASSERT_EQ(trace.captures.size(), 1U);
  EXPECT_EQ(trace.captures[0].format, "requests");
  EXPECT_EQ(trace.captures[0].tool, "llmprof load");
  EXPECT_EQ(trace.captures[0].wall_clock_ns, 1'700'000'000'000'000'000);
  ASSERT_EQ(trace.request_files.size(), 1U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.capture.index(), 0U);
  EXPECT_EQ(file.source, trace::RequestSource::llmprof);
  EXPECT_EQ(file.clock, trace::RequestClock::monotonic);
  EXPECT_EQ(file.boot_id, "3d79c6fb-8838-e918-5193-3fe6bfedd8a7");
  EXPECT_TRUE(file.chunks_complete);
  EXPECT_EQ(file.arrivals, "poisson");
  EXPECT_EQ(file.rate, 10);
  EXPECT_EQ(file.concurrency, 0U);
  EXPECT_EQ(file.ttft_limit, 50'000'000);
  EXPECT_EQ(file.itl_limit, 5'500'000);

  const trace::RequestTable& requests = trace.requests;
  ASSERT_EQ(requests.size(), 5U);
  EXPECT_EQ(trace.strings[requests.id[1]], "1");
  EXPECT_EQ(trace.strings[requests.id[4]], "chat-4");
  EXPECT_EQ(requests.warm_up, std::vector<bool>({true, false, false, false, false}));
  EXPECT_EQ(requests.status,
            std::vector<RequestStatus>({RequestStatus::completed, RequestStatus::completed,
                                        RequestStatus::cut, RequestStatus::failed,
                                        RequestStatus::cancelled}));
  EXPECT_EQ(requests.scheduled[1], 50'000);
  EXPECT_EQ(requests.sent[1], 50'200);
  EXPECT_EQ(requests.end[1], 96'000);
  EXPECT_EQ(requests.end[2], kNoTime);
  EXPECT_EQ(requests.first_token[1], 75'200);  // the chunk before it has no token
  EXPECT_EQ(requests.first_token[3], kNoTime);
  EXPECT_EQ(requests.prompt_tokens[1], 16U);
  EXPECT_EQ(requests.output_tokens, std::vector<uint64_t>({2, 5, 1, kNoCount, 2}));
  EXPECT_EQ(requests.cached_tokens[0], kNoCount);
  EXPECT_EQ(requests.cached_tokens[1], 4U);
  EXPECT_EQ(requests.first_chunk, std::vector<uint32_t>({0, 2, 7, 8, 8}));
  EXPECT_EQ(trace.chunks.time[5], 95'200);
  EXPECT_EQ(trace.chunks.tokens[5], 3U);
  ASSERT_EQ(trace.chunks.size(), 9U);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(OwnRequests, ReadNumbersOfHttpAndTheServersOwnCounts) {
  const trace::Trace trace = read_own_fixture("llmprof_http.json");
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.requests.status,
            std::vector<RequestStatus>(
                {RequestStatus::completed, RequestStatus::cut, RequestStatus::failed}));
  EXPECT_EQ(trace.requests.cached_tokens[0], 7U);
  EXPECT_EQ(trace.requests.output_tokens, std::vector<uint64_t>({3, 1, kNoCount}));
  EXPECT_EQ(trace.request_files[0].rate, 12);
  EXPECT_EQ(trace.request_files[0].boot_id, "");
  EXPECT_FALSE(trace.captures[0].wall_clock_ns);
}

TEST(OwnRequests, ReadTimestampsOfTransformers) {
  const trace::Trace trace = read_own_fixture("transformers.json");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.captures[0].tool, "transformers");
  EXPECT_EQ(trace.request_files[0].source, trace::RequestSource::transformers);
  EXPECT_EQ(trace.request_files[0].clock, trace::RequestClock::monotonic);
  EXPECT_EQ(trace.strings[trace.requests.id[1]], "r1");
  EXPECT_EQ(trace.requests.sent[0], 115'000'255'199);
  EXPECT_EQ(trace.requests.end[0], 115'309'245'238);
  EXPECT_EQ(trace.requests.queued[0], 433'572);
  EXPECT_EQ(trace.requests.queued[1], 56'908'738);
  EXPECT_EQ(trace.chunks.time[0], 115'107'146'214);
  EXPECT_EQ(trace.chunks.tokens, std::vector<uint32_t>(5, 1));
  EXPECT_EQ(trace.requests.status[0], RequestStatus::completed);
}

// The client may have recorded only what the engine states.
TEST(OwnRequests, OfTransformersEndWithTheirLifespan) {
  const trace::Trace trace = read_own_text(
      R"({"clock": "perf_counter = CLOCK_MONOTONIC s", "requests": [
          {"id": "0", "submitted_s": 1.5, "lifespan": [1.75, 2.5], "timestamps": [2, 2.25]},
          {"id": "1", "submitted_s": 1.5, "lifespan": [-1, -1], "timestamps": []}]})");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.requests.status[0], RequestStatus::completed);
  EXPECT_EQ(trace.requests.end[0], kNoTime);
  EXPECT_EQ(trace.requests.queued[0], 250'000'000);
  EXPECT_EQ(trace.requests.status[1], RequestStatus::cut);
  EXPECT_EQ(trace.requests.queued[1], kNoTime);
}

TEST(OwnRequests, KeysAfterTheRequestsCountToo) {
  const trace::Trace trace = read_own_text(
      R"({"format": "llmprof requests", "requests": [{"sent_ns": 5, "chunks": [[6, 1]], "end_ns": 7},
          {"sent_ns": 8, "chunks": [[9, 1]], "end_ns": 9}],
          "version": 1, "arrivals": "closed", "concurrency": 8, "warm_up_requests": 1,
          "clock": "CLOCK_REALTIME ns"})");
  EXPECT_EQ(trace.request_files[0].clock, trace::RequestClock::wall);
  EXPECT_EQ(trace.request_files[0].arrivals, "closed");
  EXPECT_EQ(trace.request_files[0].concurrency, 8U);
  EXPECT_EQ(trace.requests.warm_up, std::vector<bool>({true, false}));
  EXPECT_FALSE(trace.requests.id[0].valid());
}

TEST(OwnRequests, WarmUpIsCountedByThePlaceInTheFile) {
  const trace::Trace trace = read_own_text(
      R"({"clock": "CLOCK_MONOTONIC ns", "warm_up_requests": 2, "requests": [{"sent_ns": "soon"},
          {"sent_ns": 8, "end_ns": 9}, {"sent_ns": 10, "end_ns": 12}]})");
  EXPECT_EQ(trace.requests.warm_up, std::vector<bool>({true, false}));
  EXPECT_EQ(testing::count_of(trace, "requests_malformed"), 1U);
}

TEST(OwnRequests, ImpossibleTimesAreCounted) {
  const trace::Trace trace = read_own_text(own_file(
      R"({"id": 0, "sent_ns": 100, "chunks": [[99, 1]], "end_ns": 200},
         {"id": 1, "sent_ns": 100, "chunks": [], "end_ns": 99},
         {"id": 2, "sent_ns": 9223372036854775807, "chunks": []},
         {"id": 3, "scheduled_ns": 150, "sent_ns": 100, "chunks": [[300, 1], [200, 2]],
          "end_ns": 250})"));
  ASSERT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_contradicting_times"), 3U);
  EXPECT_EQ(testing::count_of(trace, "requests_chunks_out_of_order"), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_end_before_last_chunk"), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_sent_before_scheduled"), 1U);
  EXPECT_EQ(trace.chunks.time, std::vector<Nanoseconds>({200, 300}));
  EXPECT_EQ(trace.chunks.tokens, std::vector<uint32_t>({2, 1}));
  EXPECT_EQ(trace.requests.end[0], 300);
  EXPECT_EQ(trace.requests.scheduled[0], kNoTime);
}

TEST(OwnRequests, TheSameRequestCountsOnceAndTheSameIdTwice) {
  const trace::Trace trace = read_own_text(own_file(
      R"({"id": "a", "sent_ns": 100, "chunks": [[120, 1]], "end_ns": 200},
         {"id": "b", "sent_ns": 100, "chunks": [[120, 1]], "end_ns": 200},
         {"id": "a", "sent_ns": 100, "chunks": [[120, 1]], "end_ns": 200},
         {"id": "a", "sent_ns": 100, "chunks": [[121, 1]], "end_ns": 200})"));
  EXPECT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(testing::count_of(trace, "requests_repeated"), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_same_id"), 1U);
}

// The first request's client counts a piece without a token as one; the second one missed a token.
TEST(OwnRequests, MoreTokensThanTheServerMadeAreAWarning) {
  const trace::Trace trace = read_own_text(own_file(
      R"({"sent_ns": 1, "chunks": [[2, 1], [3, 1], [4, 1]], "end_ns": 5, "status": 200,
          "tokens_predicted": 2},
         {"sent_ns": 1, "chunks": [[2, 1]], "end_ns": 5, "status": 200, "tokens_predicted": 2},
         {"sent_ns": 1, "chunks": [[2, 1], [3, 1]], "end_ns": 5, "status": 200,
          "tokens_predicted": 2})"));
  EXPECT_EQ(testing::count_of(trace, "requests_more_tokens"), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_tokens_differ"), 1U);
}

TEST(OwnRequests, ValuesOfOtherTypesRefuseOnlyTheirRequest) {
  const trace::Trace trace = read_own_text(own_file(
      R"(null, 17, "te]xt{", [1, [2], {}], {"id": 0, "sent_ns": 100.5}, {"id": 1, "sent_ns": -1},
         {"id": 2, "sent_ns": 1, "chunks": [[2]]}, {"id": 3, "sent_ns": 1, "chunks": {"a": 1}},
         {"id": 4, "sent_ns": 1, "status": "unheard of"}, {"id": {}, "sent_ns": 1},
         {"id": 5, "sent_ns": 1, "chunks": [[2, -1]]}, {"id": 6, "sent_ns": NaN, "end_ns": 5},
         {"id": 7, "sent_ns": 1, "end_ns": 5, "rating": 1e400})"));
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(trace.strings[trace.requests.id[0]], "6");
  EXPECT_EQ(trace.requests.sent[0], kNoTime);
  EXPECT_EQ(testing::count_of(trace, "requests_malformed"), 12U);
  EXPECT_EQ(testing::count_of(trace, "requests_not_finite"), 1U);
}

TEST(OwnRequests, WhatPrecedesACutIsRead) {
  const std::string whole = own_file(
      R"({"id": 0, "sent_ns": 100, "chunks": [[120, 1]], "end_ns": 200},
         {"id": 1, "sent_ns": 300, "chunks": [[320, 1]], "end_ns": 400})");
  const trace::Trace trace = read_own_text(whole.substr(0, whole.find("[[320") + 4));
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_cut_off"), 1U);
  EXPECT_NE(own_refusal(whole.substr(0, whole.find("[[120"))).find("cut off"), std::string::npos);
}

TEST(OwnRequests, FilesWithoutRequestsSayWhatToDo) {
  EXPECT_NE(own_refusal(own_file("")).find("run the load again"), std::string::npos);
  EXPECT_NE(own_refusal(own_file("1, 2")).find("none of its 2 requests"), std::string::npos);
  EXPECT_NE(own_refusal(R"({"format": "llmprof requests"})").find("no array `requests`"),
            std::string::npos);
  EXPECT_NE(own_refusal(R"({"format": "llmprof requests", "version": 2, "requests": [{"id": 1}]})")
                .find("version 2; this llmprof reads version 1"),
            std::string::npos);
}

TEST(OwnRequests, AreRecognizedByContent) {
  const auto is_own = [](std::string_view head) { return kOwnRequestsReader.recognizes(head); };
  EXPECT_TRUE(is_own(own_file("")));
  EXPECT_TRUE(is_own(R"({"format": "llmprof requests", "version": 1)"));
  EXPECT_FALSE(is_own(R"({"requests": [{"timestamp": 1}], "clock": "CLOCK_MONOTONIC ns"})"));
  EXPECT_FALSE(is_own(R"({"clock": "CLOCK_MONOTONIC ns"})"));
  EXPECT_FALSE(is_own(R"({"requests": 5, "tokens_per_s": 7})"));
  for (const char* name : {"llmprof.json", "llmprof_http.json", "transformers.json"}) {
    const std::string head = testing::file_bytes(testing::test_data("requests") / name);
    EXPECT_EQ(find_reader(head), &kOwnRequestsReader) << name;
  }
}

TEST(SharedCapturesOfRequests, AreReadWhole) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  struct Expected {
    const char* name;
    size_t requests;
    size_t completed;
    size_t chunks;
  };
  // Counted with Python's json.
  const Expected files[] = {{"llama_server_planted", 56, 50, 2533},
                            {"llama_server_planted_unrecorded", 56, 52, 2573},
                            {"llama_server_saturated", 84, 80, 4077},
                            {"hf_continuous_batching", 10, 10, 320}};
  for (const Expected& expected : files) {
    const trace::Trace trace =
        read_own(captures / "serving" / (std::string(expected.name) + ".requests.json.gz"));
    EXPECT_EQ(trace.requests.size(), expected.requests) << expected.name;
    EXPECT_EQ(std::ranges::count(trace.requests.status, RequestStatus::completed),
              static_cast<std::ptrdiff_t>(expected.completed))
        << expected.name;
    EXPECT_EQ(trace.chunks.size(), expected.chunks) << expected.name;
    EXPECT_TRUE(trace.diagnostics.items().empty()) << expected.name;
  }
}

}  // namespace
}  // namespace llmprof::readers
