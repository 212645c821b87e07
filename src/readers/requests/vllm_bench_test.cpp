#include <gtest/gtest.h>

#include "readers/shared/reader.h"
#include "testing/readers/diagnostic_count.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using trace::kNoCount;
using trace::kNoTime;
using trace::RequestStatus;

trace::Trace read_vllm(const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = kVllmBenchReader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}
trace::Trace read_vllm_text(std::string_view text) {
  const testing::TemporaryFolder folder;
  return read_vllm(folder.write("vllm.json", text));
}
std::string vllm_refusal(std::string_view text) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kVllmBenchReader.read(folder.write("vllm.json", text), builder);
  EXPECT_FALSE(done);
  EXPECT_TRUE(builder.trace().captures.empty());
  return done ? std::string() : done.error().message;
}

TEST(VllmBench, ReadsRequestsAndTotals) {
  const trace::Trace trace = read_vllm(testing::test_data("requests") / "vllm_bench.json");
  ASSERT_EQ(trace.request_files.size(), 1U);
  const trace::RequestFile& file = trace.request_files[0];
  EXPECT_EQ(file.source, trace::RequestSource::vllm_bench);
  EXPECT_EQ(file.clock, trace::RequestClock::monotonic);
  EXPECT_EQ(file.arrivals, "closed");
  EXPECT_EQ(file.concurrency, 2U);
  EXPECT_EQ(file.rate, 0);
  EXPECT_EQ(file.stated.size(), 8U + 4U * 7U);
  ASSERT_EQ(trace.requests.size(), 5U);
  EXPECT_EQ(trace.requests.sent[0], 42'800'000'000);
  EXPECT_EQ(trace.requests.end[0], 42'841'000'000);
  EXPECT_EQ(trace.requests.prompt_tokens[0], 128U);
  EXPECT_EQ(trace.requests.output_tokens, std::vector<uint64_t>({4, 5, kNoCount, 1, 2}));
  EXPECT_EQ(trace.requests.status[2], RequestStatus::failed);
  EXPECT_EQ(trace.requests.first_token[2], kNoTime);
  EXPECT_EQ(trace.requests.status[3], RequestStatus::completed);
  EXPECT_EQ(trace.requests.end[3], 43'027'500'000);
  EXPECT_EQ(trace.requests.first_chunk, std::vector<uint32_t>({0, 4, 7, 7, 8}));
  EXPECT_EQ(trace.chunks.time[1], 42'830'000'000);
  EXPECT_EQ(trace.captures[0].tool, "vllm bench serve");
  EXPECT_EQ(testing::count_of(trace, "requests_not_finite"), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_tokens_differ"), 1U);
}

TEST(VllmBench, ReadsEachAppendedRun) {
  const trace::Trace trace =
      read_vllm(testing::test_data("requests") / "vllm_bench_appended.jsonl");
  ASSERT_EQ(trace.request_files.size(), 2U);
  EXPECT_EQ(trace.captures.size(), 2U);
  EXPECT_EQ(trace.requests.file, std::vector<uint32_t>({0, 0, 1, 1}));
  EXPECT_EQ(trace.request_files[0].arrivals, "poisson");
  EXPECT_EQ(trace.request_files[0].rate, 4);
  // An older version: no times of day. Arrivals are neither Poisson nor named.
  EXPECT_EQ(trace.request_files[1].clock, trace::RequestClock::none);
  EXPECT_EQ(trace.request_files[1].arrivals, "");
  EXPECT_EQ(trace.requests.sent[3], 0);
  EXPECT_EQ(trace.requests.end[3], 36'000'000);
}

constexpr std::string_view kHead =
    R"({"num_prompts": 3, "model_id": "m", "tokenizer_id": "m", "duration": 1.5, )";

TEST(VllmBench, ReadsObjectsOfSeveralLines) {
  const std::string text =
      std::string(kHead) +
      "\n  \"ttfts\": [0.5],\n  \"itls\": [[0.25]],\n  \"start_times\": [7.0]\n}";
  const trace::Trace trace = read_vllm_text(text);
  ASSERT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(trace.requests.output_tokens[0], 2U);
  EXPECT_EQ(find_reader(text), &kVllmBenchReader);
}

TEST(VllmBench, BadValuesRefuseTheirRequest) {
  const trace::Trace trace = read_vllm_text(
      std::string(kHead) +
      R"("ttfts": [0.5, -1, 0.5, "a", 1e300, 0.5, 0.5], "itls": [[], [], 5, [], [], [NaN]],
         "start_times": [1.0, 1, 1, 1, 1, 1, 1, 1]})");
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_malformed"), 6U);
}

TEST(VllmBench, SaysWhatIsMissing) {
  EXPECT_NE(vllm_refusal(std::string(kHead) + R"("completed": 3})").find("--save-detailed"),
            std::string::npos);
  EXPECT_NE(vllm_refusal(std::string(kHead) + R"("ttfts": [0.5], "itls": [[0.2)").find("cut off"),
            std::string::npos);
}

TEST(VllmBench, KeepsTheRunsBeforeACut) {
  const std::string run = std::string(kHead) + R"("ttfts": [0.5], "itls": [[]]})";
  const trace::Trace trace = read_vllm_text(run + "\n" + run.substr(0, run.size() - 5));
  EXPECT_EQ(trace.request_files.size(), 1U);
  EXPECT_EQ(testing::count_of(trace, "requests_malformed_runs"), 1U);
}

TEST(VllmBench, IsRecognizedByContent) {
  for (const char* name : {"vllm_bench.json", "vllm_bench_appended.jsonl"}) {
    EXPECT_EQ(find_reader(testing::file_bytes(testing::test_data("requests") / name)),
              &kVllmBenchReader)
        << name;
  }
  EXPECT_FALSE(kVllmBenchReader.recognizes(R"({"num_prompts": 3, "backend": "sglang"})"));
}

}  // namespace
}  // namespace llmprof::readers
