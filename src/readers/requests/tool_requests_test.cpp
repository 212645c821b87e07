// Fixtures: tests/data/requests/make_fixtures.py, which prints the load that all of them describe.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::TemporaryFolder;
using testing::test_data;
using trace::kNoCount;
using trace::kNoTime;
using trace::RequestClock;
using trace::RequestSource;
using trace::RequestStatus;

constexpr Nanoseconds kFirstSent = 1'794'000'000'000'000'000;

std::filesystem::path requests_fixture(std::string_view name) {
  return test_data("requests") / name;
}

trace::Trace requests_of(const Reader& reader, const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = reader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}

trace::Trace requests_of_text(const Reader& reader, std::string_view text) {
  const TemporaryFolder folder;
  return requests_of(reader, folder.write("requests", text));
}

std::string refusal_of_requests(const Reader& reader, std::string_view text) {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = reader.read(folder.write("requests", text), builder);
  EXPECT_FALSE(done);
  EXPECT_TRUE(builder.trace().captures.empty());
  return done ? std::string() : done.error().message;
}

// The times of a request's chunks, after it was sent.
std::vector<Nanoseconds> arrivals(const trace::Trace& trace, size_t row) {
  const auto& requests = trace.requests;
  const size_t end = row + 1 < requests.size() ? requests.first_chunk[row + 1]
                                               : static_cast<uint32_t>(trace.chunks.size());
  std::vector<Nanoseconds> times;
  for (size_t i = requests.first_chunk[row]; i < end; ++i) {
    times.push_back(trace.chunks.time[i] - requests.sent[row]);
  }
  return times;
}

size_t row_of(const trace::Trace& trace, std::string_view id) {
  for (size_t row = 0; row < trace.requests.size(); ++row) {
    if (trace.strings[trace.requests.id[row]] == id) return row;
  }
  ADD_FAILURE() << "no request " << id;
  return 0;
}

uint64_t times_of(const trace::Trace& trace, std::string_view code) {
  for (const Diagnostic& item : trace.diagnostics.items()) {
    if (item.code == code) return item.count;
  }
  return 0;
}

std::string text_of_code(const trace::Trace& trace, std::string_view code) {
  for (const Diagnostic& item : trace.diagnostics.items()) {
    if (item.code == code) return item.message;
  }
  return {};
}

double stated_value(const trace::RequestFile& file, std::string_view name) {
  for (const auto& [key, value] : file.stated) {
    if (key == name) return value;
  }
  ADD_FAILURE() << name << " is not stated";
  return 0;
}

uint64_t tokens_of_all(const trace::Trace& trace) {
  return std::accumulate(trace.chunks.tokens.begin(), trace.chunks.tokens.end(), uint64_t{0});
}

// Seconds since 1970 have steps of 238 ns; a difference of two has twice the error.
void expect_near_ns(Nanoseconds time, Nanoseconds expected) {
  EXPECT_LE(std::abs(time - expected), 240) << time << " instead of " << expected;
}

TEST(ToolRequests, EachFixtureHasOneReader) {
  const std::vector<std::pair<const Reader*, std::string>> fixtures = {
      {&kSglangBenchReader, "sglang_bench.jsonl"},
      {&kSglangBenchReader, "sglang_bench_totals.jsonl"},
      {&kSglangServerReader, "sglang_request_metrics.log"},
      {&kAiperfReader, "aiperf_profile_export.jsonl"},
      {&kGuidellmReader, "guidellm_report.json"},
      {&kGenaiPerfReader, "genai_perf_profile_export.json"},
      {&kOtlpSpansReader, "vllm_spans.jsonl"},
      {&kOtlpSpansReader, "vllm_spans_pretty.json"},
      {&kOtlpSpansReader, "sglang_spans.jsonl"}};
  for (const auto& [expected, name] : fixtures) {
    const auto head = read_head(requests_fixture(name), kHeadBytes);
    ASSERT_TRUE(head) << name;
    for (const Reader* reader : all_readers()) {
      EXPECT_EQ(reader->recognizes(*head), reader == expected) << name << ": " << reader->format;
    }
  }
}

TEST(ToolRequests, OtherFormatsAreNotRequests) {
  const std::array<const Reader*, 6> readers = {&kSglangBenchReader, &kSglangServerReader,
                                                &kAiperfReader,      &kGuidellmReader,
                                                &kGenaiPerfReader,   &kOtlpSpansReader};
  std::vector<std::string> heads = {
      R"({"benchmarks":[{"name":"BM_x","run_name":"x"}],"context":{}})",
      R"({"ttfts":[0.1],"itls":[[]],"backend":"vllm","request_rate":"inf","date":"x"})",
      R"({"metadata":{"a":1},"metrics":{}})",
      R"({"resourceMetrics":[]})",
      "{}",
      "[]",
      ""};
  for (const char* folder : {"kineto", "ncu", "stage1_metrics", "nsys_csv", "reports"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test_data(folder))) {
      if (!entry.is_regular_file()) continue;
      if (auto head = read_head(entry.path(), kHeadBytes)) heads.push_back(*head);
    }
  }
  EXPECT_GT(heads.size(), 20U);
  for (const std::string& head : heads) {
    for (const Reader* reader : readers) {
      EXPECT_FALSE(reader->recognizes(head)) << reader->format << ": " << head.substr(0, 200);
    }
  }
}

TEST(AiperfRequests, AreReadWithTheirChunks) {
  const trace::Trace trace =
      requests_of(kAiperfReader, requests_fixture("aiperf_profile_export.jsonl"));
  ASSERT_EQ(trace.request_files.size(), 1U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::aiperf);
  EXPECT_EQ(file.clock, RequestClock::wall);
  EXPECT_TRUE(file.chunks_complete);
  EXPECT_EQ(trace.captures[0].wall_clock_ns, 0);
  EXPECT_EQ(trace.captures[0].tool, "AIPerf");
  ASSERT_EQ(trace.requests.size(), 12U);
  const size_t row = row_of(trace, "request-3");
  EXPECT_EQ(trace.requests.sent[row], kFirstSent + 146'969'000);
  EXPECT_EQ(trace.requests.scheduled[row], kFirstSent + 146'819'000);
  EXPECT_EQ(trace.requests.end[row], kFirstSent + 249'387'000);
  EXPECT_EQ(trace.requests.first_token[row], kFirstSent + 198'777'000);
  EXPECT_EQ(trace.requests.prompt_tokens[row], 584U);
  EXPECT_EQ(trace.requests.output_tokens[row], 7U);
  EXPECT_EQ(trace.requests.status[row], RequestStatus::completed);
  EXPECT_EQ(arrivals(trace, row),
            (std::vector<Nanoseconds>{51'808'000, 63'209'000, 70'677'000, 78'921'000, 82'025'000,
                                      90'822'000, 102'418'000}));
  for (const char* id : {"request-0", "request-1", "request-2"}) {
    EXPECT_EQ(trace.requests.warm_up[row_of(trace, id)], std::string_view(id) != "request-2");
  }
  const size_t cancelled = row_of(trace, "request-4");
  EXPECT_EQ(trace.requests.status[cancelled], RequestStatus::cancelled);
  EXPECT_EQ(trace.requests.prompt_tokens[cancelled], 111U);
  EXPECT_EQ(trace.requests.output_tokens[cancelled], kNoCount);
  EXPECT_EQ(trace.requests.status[row_of(trace, "request-6")], RequestStatus::failed);
  EXPECT_EQ(tokens_of_all(trace), 62U);  // 73 less those of the requests 4 and 6
  EXPECT_DOUBLE_EQ(stated_value(file, "request_count.avg"), 8);
  EXPECT_DOUBLE_EQ(stated_value(file, "time_to_first_token.max"), 78.143);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

constexpr std::string_view kAiperfLine =
    R"({"metadata":{"x_request_id":"a","request_start_ns":1000000,"request_end_ns":9000000,)"
    R"("benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":2.0,"unit":"ms"},)"
    R"("inter_chunk_latency":{"value":[1.5,0.5],"unit":"ms"},)"
    R"("output_sequence_length":{"value":3,"unit":"tokens"}},"error":null})";

std::string changed(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? changed : changed.replace(at, from.size(), to);
}

TEST(AiperfRequests, BadLinesAreCountedWithTheFirstOne) {
  const std::string good(kAiperfLine);
  const std::string text = good + "\n\nnot JSON\n" + changed(good, "\"a\"", "7") + "\n" +
                           changed(good, "[1.5,0.5]", "[1.5,-0.5]") + "\n" +
                           changed(good, "1000000", "-1") + "\n" +
                           changed(good, "\"unit\":\"ms\"},\"inter", "\"unit\":\"h\"},\"inter") +
                           "\n{\"metadata\":{}}\n[]\n";
  const trace::Trace trace = requests_of_text(kAiperfReader, text);
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(times_of(trace, "requests_malformed"), 7U);
  EXPECT_NE(text_of_code(trace, "requests_malformed").find("the first is in line 3"),
            std::string::npos);
}

TEST(AiperfRequests, ACutLastLineIsNamed) {
  const std::string text = std::string(kAiperfLine) + "\n" + std::string(kAiperfLine.substr(0, 90));
  const trace::Trace trace = requests_of_text(kAiperfReader, text);
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_TRUE(trace.diagnostics.has("requests_cut_off"));
  EXPECT_FALSE(trace.diagnostics.has("requests_malformed"));
}

TEST(AiperfRequests, ARepeatedLineIsReadOnce) {
  const std::string line = std::string(kAiperfLine) + "\n";
  const trace::Trace trace = requests_of_text(kAiperfReader, line + line);
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(times_of(trace, "requests_repeated"), 1U);
}

TEST(AiperfRequests, NotANumberIsNotRecorded) {
  const std::string text = changed(kAiperfLine, "\"value\":3", "\"value\":NaN");
  const trace::Trace trace = requests_of_text(kAiperfReader, text);
  ASSERT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(times_of(trace, "requests_not_finite"), 1U);
  EXPECT_EQ(trace.requests.output_tokens[0], 3U);  // of its chunks
}

TEST(AiperfRequests, WithoutChunksThereIsNoTimeForEachToken) {
  const std::string text = changed(kAiperfLine, "inter_chunk_latency", "other");
  const trace::Trace trace = requests_of_text(kAiperfReader, text);
  ASSERT_EQ(trace.requests.size(), 1U);
  EXPECT_FALSE(trace.request_files[0].chunks_complete);
  EXPECT_EQ(trace.requests.first_token[0], 3'000'000);
  EXPECT_EQ(trace.chunks.size(), 0U);
}

TEST(AiperfRequests, WithoutAnyRequestTheFileIsRefused) {
  const std::string refused =
      refusal_of_requests(kAiperfReader, changed(kAiperfLine, "1000000", "\"?\""));
  EXPECT_NE(refused.find("none of its 1 requests"), std::string::npos) << refused;
}

TEST(SglangBench, HasDurationsButNoTimesOfDay) {
  const trace::Trace trace =
      requests_of(kSglangBenchReader, requests_fixture("sglang_bench.jsonl"));
  ASSERT_EQ(trace.request_files.size(), 1U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::sglang_bench);
  EXPECT_EQ(file.clock, RequestClock::none);
  EXPECT_EQ(file.arrivals, "poisson");
  EXPECT_EQ(file.rate, 30);
  ASSERT_EQ(trace.requests.size(), 12U);
  EXPECT_EQ(trace.requests.sent[2], 0);
  EXPECT_EQ(trace.requests.end[2], kNoTime);
  EXPECT_EQ(trace.requests.prompt_tokens[2], 390U);
  EXPECT_EQ(trace.requests.cached_tokens[0], 16U);
  EXPECT_EQ(arrivals(trace, 0),
            (std::vector<Nanoseconds>{50'568'000, 58'111'000, 68'958'000, 80'685'000}));
  // Chunks of two tokens: half of the gap is written for each.
  EXPECT_EQ(trace.requests.output_tokens[3], 13U);
  EXPECT_EQ(arrivals(trace, 3).size(), 13U);
  EXPECT_EQ(arrivals(trace, 3).back(), 102'418'000);
  EXPECT_EQ(trace.requests.status[5], RequestStatus::failed);
  EXPECT_EQ(stated_value(file, "completed"), 11);
  EXPECT_DOUBLE_EQ(stated_value(file, "max_itl_ms"), 11.727);
  EXPECT_EQ(times_of(trace, "requests_other_runs"), 1U);
  EXPECT_EQ(trace.diagnostics.items().size(), 1U);
}

TEST(SglangBench, TotalsAloneAreRefusedWithTheOptionThatIsMissing) {
  trace::TraceBuilder builder;
  const auto done = kSglangBenchReader.read(requests_fixture("sglang_bench_totals.jsonl"), builder);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("--output-details"), std::string::npos);
}

TEST(SglangBench, MalformedRequestsAreCounted) {
  const trace::Trace trace = requests_of_text(
      kSglangBenchReader,
      R"({"backend":"sglang","request_rate":Infinity,"max_concurrency":2,)"
      R"("sharegpt_output_len":null,"ttfts":[0.1,"x",0.2,0.3],"itls":[[0.1],[],[-1]],)"
      R"("errors":[null]})");
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(times_of(trace, "requests_malformed"), 3U);
  EXPECT_EQ(trace.request_files[0].arrivals, "closed");
  EXPECT_EQ(trace.request_files[0].concurrency, 2U);
  EXPECT_FALSE(trace.diagnostics.has("requests_not_finite"));
}

TEST(SglangServer, SaysWhenRequestsWereReceivedAndBegun) {
  const trace::Trace trace =
      requests_of(kSglangServerReader, requests_fixture("sglang_request_metrics.log"));
  ASSERT_EQ(trace.requests.size(), 12U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::sglang_server);
  EXPECT_EQ(file.clock, RequestClock::wall);
  EXPECT_FALSE(file.chunks_complete);
  const size_t row = row_of(trace, "request-3");
  expect_near_ns(trace.requests.sent[row] - kFirstSent, 146'969'000);
  expect_near_ns(trace.requests.first_token[row] - kFirstSent, 198'777'000);
  expect_near_ns(trace.requests.end[row] - kFirstSent, 249'435'000);
  expect_near_ns(trace.requests.queued[row], 6'394'000);
  EXPECT_EQ(trace.requests.output_tokens[row], 7U);
  EXPECT_EQ(trace.requests.cached_tokens[row], 0U);
  EXPECT_EQ(trace.requests.status[row_of(trace, "request-7")], RequestStatus::cancelled);
  EXPECT_EQ(trace.chunks.size(), 0U);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(SglangServer, EarlierVersionsHaveOnlyDurations) {
  const trace::Trace trace = requests_of_text(
      kSglangServerReader,
      "{\"request_parameters\":\"{}\",\"meta_info\":{\"id\":\"a\",\"e2e_latency\":0.25,"
      "\"queue_time\":0.5e-3,\"prompt_tokens\":4,\"completion_tokens\":2}}\n"
      "{\"request_parameters\":\"{}\",\"id\":\"b\"}\n");
  ASSERT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(trace.request_files[0].clock, RequestClock::none);
  EXPECT_EQ(trace.requests.end[0], 250'000'000);
  EXPECT_EQ(trace.requests.queued[0], 500'000);
  EXPECT_EQ(times_of(trace, "requests_malformed"), 1U);
}

TEST(Guidellm, HasTheEndsOfEachAnswer) {
  const trace::Trace trace = requests_of(kGuidellmReader, requests_fixture("guidellm_report.json"));
  ASSERT_EQ(trace.requests.size(), 12U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::guidellm);
  EXPECT_EQ(file.clock, RequestClock::wall);
  EXPECT_FALSE(file.chunks_complete);
  EXPECT_EQ(file.arrivals, "constant");
  EXPECT_EQ(file.rate, 30);
  const size_t row = row_of(trace, "request-3");
  expect_near_ns(trace.requests.scheduled[row] - kFirstSent, 146'879'000);
  expect_near_ns(trace.requests.sent[row] - kFirstSent, 146'969'000);
  expect_near_ns(trace.requests.end[row] - kFirstSent, 249'435'000);
  const std::vector<Nanoseconds> ends = arrivals(trace, row);
  ASSERT_EQ(ends.size(), 2U);
  expect_near_ns(ends[0], 51'808'000);
  expect_near_ns(ends[1], 102'418'000);
  EXPECT_EQ(trace.requests.output_tokens[row], 7U);
  EXPECT_TRUE(trace.requests.warm_up[row_of(trace, "request-0")]);
  EXPECT_FALSE(trace.requests.warm_up[row]);
  EXPECT_EQ(trace.requests.status[row_of(trace, "request-8")], RequestStatus::cancelled);
  EXPECT_EQ(trace.requests.status[row_of(trace, "request-9")], RequestStatus::failed);
  EXPECT_EQ(stated_value(file, "time_to_first_token_ms.count"), 9);
  EXPECT_NE(text_of_code(trace, "requests_other_runs").find("constant at 30/s"), std::string::npos);
  EXPECT_NE(text_of_code(trace, "requests_other_runs").find("concurrent"), std::string::npos);
  EXPECT_EQ(trace.diagnostics.items().size(), 1U);
}

TEST(Guidellm, ACutReportIsRefused) {
  const std::string refused =
      refusal_of_requests(kGuidellmReader, R"({"benchmarks":[{"type_":"generative_benchmark")");
  EXPECT_NE(refused.find("cut off or damaged"), std::string::npos) << refused;
}

TEST(GenaiPerf, CountsTheEventsThatHaveText) {
  const trace::Trace trace =
      requests_of(kGenaiPerfReader, requests_fixture("genai_perf_profile_export.json"));
  ASSERT_EQ(trace.requests.size(), 13U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::genai_perf);
  EXPECT_EQ(file.clock, RequestClock::wall);
  EXPECT_TRUE(file.chunks_complete);
  EXPECT_EQ(file.arrivals, "closed");
  EXPECT_EQ(file.concurrency, 4U);
  EXPECT_EQ(trace.captures[0].tool, "GenAI-Perf");
  EXPECT_EQ(trace.captures[0].tool_version, "2.59.0");
  EXPECT_EQ(trace.requests.sent[3], kFirstSent + 146'969'000);
  EXPECT_EQ(trace.requests.end[3], kFirstSent + 249'435'000);
  EXPECT_EQ(trace.requests.first_token[3], kFirstSent + 198'777'000);
  EXPECT_EQ(trace.requests.prompt_tokens[3], 584U);
  EXPECT_EQ(trace.requests.output_tokens[3], 7U);
  EXPECT_EQ(trace.requests.cached_tokens[0], 16U);
  EXPECT_EQ(arrivals(trace, 3).size(), 9U);  // a role and the usage besides its tokens
  EXPECT_EQ(tokens_of_all(trace), 73U);
  EXPECT_EQ(trace.requests.status[12], RequestStatus::cut);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

// An experiment whose two requests have one token each.
std::string genai_experiment(int64_t sent) {
  const auto request = [](int64_t at) {
    return R"({"timestamp": )" + std::to_string(at) + R"(, "response_timestamps": [)" +
           std::to_string(at + 7) + R"(], "response_outputs": [{"response": "{]\"}"}]})";
  };
  return R"({"experiment": {"mode": "request_rate", "value": 2.5}, "requests": [)" + request(sent) +
         ", " + request(sent + 100) + "]}";
}

TEST(GenaiPerf, ReadsOneExperimentAndRefusesDamagedRequests) {
  const trace::Trace trace = requests_of_text(
      kGenaiPerfReader, R"({"experiments": [7, {"experiment": {}, "requests": []}, )" +
                            genai_experiment(1000) + ", " + genai_experiment(9000) +
                            R"(], "version": "1.2"})");
  EXPECT_EQ(trace.requests.sent, (std::vector<Nanoseconds>{1000, 1100}));
  EXPECT_EQ(trace.requests.end, (std::vector<Nanoseconds>{1007, 1107}));
  EXPECT_EQ(trace.request_files[0].rate, 2.5);
  EXPECT_EQ(trace.captures[0].tool_version, "1.2");
  EXPECT_EQ(times_of(trace, "requests_other_runs"), 1U);

  std::string damaged = R"({"experiments": [)" + genai_experiment(1000) + "]}";
  damaged.replace(damaged.find("[1107]"), 6, "[1107}");
  const trace::Trace rest = requests_of_text(kGenaiPerfReader, damaged);
  EXPECT_EQ(rest.requests.sent, std::vector<Nanoseconds>{1000});
  EXPECT_GE(times_of(rest, "requests_malformed") + times_of(rest, "requests_cut_off"), 1U);
}

// Wherever the file is cut off, the requests before the cut are read.
TEST(GenaiPerf, ReadsAFileThatIsCutOff) {
  const std::string whole =
      R"({"experiments": [)" + genai_experiment(1000) + R"(], "version": "1"})";
  const size_t first = whole.find("}]}") + 3;
  const size_t second = whole.find("}]}", first) + 3;
  for (size_t length = first; length + 1 < whole.size(); ++length) {
    const trace::Trace trace = requests_of_text(kGenaiPerfReader, whole.substr(0, length));
    EXPECT_EQ(trace.requests.size(), length < second ? 1U : 2U) << length;
    EXPECT_EQ(times_of(trace, "requests_cut_off"), 1U) << length;
    EXPECT_EQ(trace.request_files[0].rate, 2.5);
  }
  EXPECT_NE(refusal_of_requests(kGenaiPerfReader, whole.substr(0, first - 1)), "");
  EXPECT_TRUE(requests_of_text(kGenaiPerfReader, whole).diagnostics.items().empty());
}

TEST(VllmSpans, SayHowLongARequestQueued) {
  const trace::Trace trace = requests_of(kOtlpSpansReader, requests_fixture("vllm_spans.jsonl"));
  ASSERT_EQ(trace.requests.size(), 12U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::vllm_spans);
  EXPECT_EQ(file.clock, RequestClock::wall);
  EXPECT_FALSE(file.chunks_complete);
  EXPECT_EQ(trace.strings[trace.requests.id[3]], "request-3");
  EXPECT_EQ(trace.requests.sent[3], kFirstSent + 146'969'000);
  EXPECT_EQ(trace.requests.first_token[3], kFirstSent + 198'777'000);
  EXPECT_EQ(trace.requests.end[3], kFirstSent + 249'435'000);
  EXPECT_EQ(trace.requests.queued[3], 6'394'000);
  EXPECT_EQ(trace.requests.prompt_tokens[3], 584U);
  EXPECT_EQ(trace.requests.output_tokens[3], 7U);
  EXPECT_TRUE(trace.diagnostics.items().empty());
  const trace::Trace pretty =
      requests_of(kOtlpSpansReader, requests_fixture("vllm_spans_pretty.json"));
  EXPECT_EQ(pretty.requests.size(), 3U);
}

TEST(SglangSpans, DecodeStepsGiveTheTimeOfEachToken) {
  const trace::Trace trace = requests_of(kOtlpSpansReader, requests_fixture("sglang_spans.jsonl"));
  ASSERT_EQ(trace.requests.size(), 6U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, RequestSource::sglang_spans);
  EXPECT_TRUE(file.chunks_complete);
  EXPECT_EQ(trace.requests.queued[3], 6'394'000);
  EXPECT_EQ(trace.requests.cached_tokens[0], 16U);
  // The first rank's steps: the second one ends each step later.
  EXPECT_EQ(arrivals(trace, 3),
            (std::vector<Nanoseconds>{51'808'000, 63'209'000, 70'677'000, 78'921'000, 82'025'000,
                                      90'822'000, 102'418'000}));
  EXPECT_EQ(times_of(trace, "requests_without_root_span"), 1U);
}

TEST(OtlpSpans, OfOtherProgramsAreRefusedByName) {
  const std::string refused = refusal_of_requests(
      kOtlpSpansReader,
      R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /","spanId":"01",)"
      R"("startTimeUnixNano":"5","endTimeUnixNano":7}]}]}]})");
  EXPECT_NE(refused.find("its spans are: GET /"), std::string::npos) << refused;
  const std::string invalid = refusal_of_requests(
      kOtlpSpansReader,
      R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","spanId":"01",)"
      R"("startTimeUnixNano":"9","endTimeUnixNano":7}]}]}]})");
  EXPECT_NE(invalid.find("none of its 1 spans"), std::string::npos) << invalid;
}

}  // namespace
}  // namespace llmprof::readers
