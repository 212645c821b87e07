#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include "base/streams/byte_stream.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

trace::Trace read_metrics(const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = kStage1MetricsReader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}
trace::Trace read_metrics_fixture(std::string_view name) {
  return read_metrics(testing::test_data("stage1_metrics") / name);
}
trace::Trace read_metrics_text(std::string_view text) {
  const testing::TemporaryFolder folder;
  return read_metrics(folder.write("metrics.json", text));
}
std::string refusal_of(std::string_view text) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kStage1MetricsReader.read(folder.write("metrics.json", text), builder);
  EXPECT_FALSE(done);
  EXPECT_TRUE(builder.trace().captures.empty());
  return done ? std::string() : done.error().message;
}

void expect_stage(const trace::WorkloadMetrics& metrics, size_t index, std::string_view name,
                  double mean, std::optional<double> std) {
  ASSERT_LT(index, metrics.stages.size());
  EXPECT_EQ(metrics.stages[index].name, name);
  EXPECT_DOUBLE_EQ(metrics.stages[index].mean_ms, mean);
  EXPECT_EQ(metrics.stages[index].std_ms, std);
}

TEST(Stage1Metrics, ReadsTheLayoutOfTheSeed) {
  const trace::Trace trace = read_metrics_fixture("seed_layout.json");
  ASSERT_TRUE(trace.workload);
  const trace::WorkloadMetrics& metrics = *trace.workload;
  ASSERT_EQ(metrics.stages.size(), 5U);  // the file has prefill and decode twice
  expect_stage(metrics, 0, "prefill", 8.5, 0.25);
  expect_stage(metrics, 1, "decode", 42.65, 0.125);
  expect_stage(metrics, 2, "sam", 2, 0.5);
  expect_stage(metrics, 4, "projector", 0.05, 0.01);
  EXPECT_EQ(metrics.tokens_per_s, 562.7);
  EXPECT_EQ(metrics.new_tokens, 24U);
  EXPECT_EQ(metrics.mfu_model_level, 0.0024);
  ASSERT_EQ(metrics.mfu_per_stage.size(), 3U);
  EXPECT_EQ(metrics.mfu_per_stage[0].name, "prefill");
  EXPECT_EQ(metrics.mfu_per_stage[0].mfu, 0.31);
  EXPECT_EQ(metrics.peak_tflops, 989);
  EXPECT_FALSE(metrics.prompt_tokens);
  EXPECT_TRUE(trace.diagnostics.items().empty());
  ASSERT_EQ(trace.captures.size(), 1U);
  EXPECT_EQ(trace.captures[0].format, "Stage 1 metrics");
}

TEST(Stage1Metrics, ReadsOurOwnLayout) {
  const trace::Trace trace = read_metrics_fixture("own_layout.json");
  ASSERT_TRUE(trace.workload);
  const trace::WorkloadMetrics& metrics = *trace.workload;
  ASSERT_EQ(metrics.stages.size(), 2U);
  expect_stage(metrics, 0, "prefill", 8.5, 0.25);
  expect_stage(metrics, 1, "decode", 42.65, std::nullopt);
  EXPECT_EQ(metrics.tokens_per_s, 562.7);
  EXPECT_EQ(metrics.prompt_tokens, 777U);
  EXPECT_EQ(metrics.new_tokens, 24U);
  EXPECT_EQ(metrics.batch, 1U);
  EXPECT_EQ(metrics.images, 0U);
  EXPECT_EQ(metrics.model, "dense decoder");
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(Stage1Metrics, LeavesOutWhatIsNoFigureAndSaysSo) {
  const trace::Trace trace = read_metrics_fixture("damaged_values.json");
  ASSERT_TRUE(trace.workload);
  const trace::WorkloadMetrics& metrics = *trace.workload;
  ASSERT_EQ(metrics.stages.size(), 1U);
  expect_stage(metrics, 0, "projector", 0.5, std::nullopt);
  ASSERT_EQ(metrics.mfu_per_stage.size(), 1U);
  EXPECT_EQ(metrics.mfu_per_stage[0].name, "decode");
  EXPECT_FALSE(metrics.tokens_per_s || metrics.mfu_model_level || metrics.peak_tflops ||
               metrics.prompt_tokens || metrics.new_tokens || metrics.batch);
  EXPECT_EQ(metrics.model, "");
  const auto count = [&](std::string_view code) {
    uint64_t sum = 0;
    for (const Diagnostic& item : trace.diagnostics.items()) {
      sum += item.code == code ? item.count : 0;
    }
    return sum;
  };
  // decode_ms.mean, sam_ms.mean, stage_ms, mfu_model_level, peak_tflops, prompt_tokens, batch,
  // model
  EXPECT_EQ(count("stage1_metrics_bad_value"), 8U);
  EXPECT_EQ(count("stage1_metrics_not_finite"), 3U);
}

TEST(Stage1Metrics, RefusesWhatHoldsNoFigure) {
  EXPECT_NE(refusal_of(R"({"aggregates": {}})").find("have no usable value"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"aggregates": {"prefill_ms": )").find("not a valid JSON"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"(["aggregates"])").find("not a valid JSON object"), std::string::npos);
  EXPECT_NE(refusal_of("").find("not a valid JSON"), std::string::npos);
}

TEST(Stage1Metrics, SaysWhereStagesAreMissing) {
  const trace::Trace trace = read_metrics_text(R"({"tokens_per_s": 3})");
  EXPECT_EQ(trace.workload->tokens_per_s, 3);
  EXPECT_TRUE(trace.diagnostics.has("stage1_metrics_no_stages"));
}

TEST(Stage1Metrics, BoundsItsMessages) {
  std::string text = R"({"tokens_per_s": 3, "mfu_per_stage": {)";
  for (int i = 0; i < 1000; ++i) text += "\"s" + std::to_string(i) + "\": \"x\", ";
  const trace::Trace trace = read_metrics_text(text + R"("end": 0.5}})");
  EXPECT_LT(trace.diagnostics.items().size(), 30U);
  EXPECT_EQ(trace.workload->mfu_per_stage.size(), 1U);
}

TEST(Stage1Metrics, KeepsTheFirstOfTwoFiles) {
  const auto folder = testing::test_data("stage1_metrics");
  trace::TraceBuilder builder;
  ASSERT_TRUE(kStage1MetricsReader.read(folder / "own_layout.json", builder));
  ASSERT_TRUE(kStage1MetricsReader.read(folder / "seed_layout.json", builder));
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.workload->model, "dense decoder");
  EXPECT_EQ(trace.captures.size(), 1U);
  EXPECT_TRUE(trace.diagnostics.has("stage1_metrics_second_file"));
}

TEST(Stage1Metrics, IsDistinguishedFromOtherJson) {
  const auto own = [](std::string_view text) { return find_reader(text) == &kStage1MetricsReader; };
  EXPECT_TRUE(own(R"({"aggregates": {)"));
  EXPECT_TRUE(own("\xEF\xBB\xBF {\"a\": [{\"b\": \"}\\\"\"}], \"mfu_per_stage\": {}}"));
  EXPECT_FALSE(own(R"({"a": {"aggregates": 1}})"));
  EXPECT_FALSE(own(R"({"a": "aggregates"})"));
  EXPECT_FALSE(own(R"(["aggregates"])"));
  EXPECT_FALSE(own(R"({"aggregates": {}, "traceEvents": [)"));
  EXPECT_FALSE(own(R"({"Kernel Name": "k", "ID": "0", "aggregates": 1})"));
  EXPECT_FALSE(own(R"({"schema_version": 1, "kernels": [], "tokens_per_s": 1})"));
}

TEST(Stage1Metrics, AreDistinguishedFromEveryOtherFixture) {
  for (const char* folder : {"nsys_sqlite", "nsys_csv", "ncu", "kineto", "stage1_metrics"}) {
    for (const auto& entry : std::filesystem::directory_iterator(testing::test_data(folder))) {
      const auto head = read_head(entry.path(), kHeadBytes);
      ASSERT_TRUE(head);
      EXPECT_EQ(kStage1MetricsReader.recognizes(*head),
                std::string_view(folder) == "stage1_metrics")
          << entry.path();
    }
  }
}

TEST(Stage1Metrics, ReplacesNumbersThatAreNoJson) {
  const trace::Trace trace = read_metrics_text(R"({"tokens_per_s": 2, "config":
      {"NaN": NaN, "a": [-Infinity,Infinity], "b": "\"NaN", "c": -1}})");
  ASSERT_TRUE(trace.workload);
  EXPECT_EQ(trace.workload->model_config, R"({"NaN":null,"a":[null,null],"b":"\"NaN","c":-1})");
  const auto& said = trace.diagnostics.items();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].code, "stage1_metrics_not_finite");
  EXPECT_EQ(said[0].count, 3U);
}

TEST(Stage1Metrics, TheMachineAndTheModelItRanOn) {
  const trace::Trace trace = read_metrics_text(R"({"tokens_per_s": 2, "requests": 3, "seed": 5,
      "config": {"model_type": "llama", "hidden_size": 64},
      "device": {"kind": "cpu", "name": "Neoverse-N1", "threads": 2, "peak_flops_per_s": 6e10,
                 "peak_bytes_per_s": 2.5e10, "number_format": "f32", "method": "best of 4"}})");
  ASSERT_TRUE(trace.workload && trace.workload->device);
  const trace::WorkloadMetrics::Device& device = *trace.workload->device;
  EXPECT_EQ(device.kind, "cpu");
  EXPECT_EQ(device.name, "Neoverse-N1");
  EXPECT_EQ(device.threads, 2U);
  EXPECT_DOUBLE_EQ(*device.peak_flops_per_s, 6e10);
  EXPECT_DOUBLE_EQ(*device.peak_bytes_per_s, 2.5e10);
  EXPECT_EQ(device.number_format, "f32");
  EXPECT_EQ(device.method, "best of 4");
  EXPECT_EQ(trace.workload->requests, 3U);
  EXPECT_EQ(trace.workload->seed, 5U);
  EXPECT_EQ(trace.workload->model_config, R"({"model_type":"llama","hidden_size":64})");
}

TEST(Stage1Metrics, TheRanksThatShareTheModel) {
  const auto ranks_of = [](const std::string& value) {
    const trace::Trace trace =
        read_metrics_text(R"({"tokens_per_s": 2, "tensor_parallel": )" + value + "}");
    return std::pair(trace.workload ? trace.workload->tensor_parallel : std::nullopt,
                     trace.diagnostics.has("stage1_metrics_bad_value"));
  };
  using Ranks = std::optional<uint64_t>;
  EXPECT_EQ(ranks_of(R"({"ranks": 2, "slow_rank": 1, "slow_by": 1.5})"),
            std::pair(Ranks(2), false));
  EXPECT_EQ(ranks_of("4"), std::pair(Ranks(4), false));
  EXPECT_EQ(ranks_of("{}"), std::pair(Ranks(), false));
  EXPECT_EQ(ranks_of(R"("two")"), std::pair(Ranks(), true));
}

TEST(Stage1Metrics, PeaksThatCannotBeAreLeftOut) {
  const trace::Trace trace = read_metrics_text(
      R"({"tokens_per_s": 2, "device": {"kind": "cpu", "peak_flops_per_s": 0,
          "peak_bytes_per_s": "fast", "threads": 1.5}})");
  ASSERT_TRUE(trace.workload && trace.workload->device);
  EXPECT_FALSE(trace.workload->device->peak_flops_per_s);
  EXPECT_FALSE(trace.workload->device->peak_bytes_per_s);
  EXPECT_FALSE(trace.workload->device->threads);
  EXPECT_TRUE(trace.diagnostics.has("stage1_metrics_bad_value"));
}

}  // namespace
}  // namespace llmprof::readers
