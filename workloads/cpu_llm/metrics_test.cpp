#include "cpu_llm/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "testing/read_capture.h"
#include "testing/temporary_folder.h"

namespace cpu_llm {
namespace {

using Json = nlohmann::json;

// Prefill 10 and 14 ms; decode 20 and 24 ms in two steps each; two sequences.
Measurements two_requests() {
  Measurements measured;
  measured.requests = {{{10'000'000, {}}, {20'000'000, {}}, {9'000'000, 11'000'000}},
                       {{14'000'000, {}}, {24'000'000, {}}, {10'000'000, 14'000'000}}};
  measured.token_hash = 0xABC;
  measured.device = {"Neoverse-N1", 2, 32U << 20U, 256U << 20U};
  const Peaks kept = {75e9, 37e9, 30e9, "how", ""};
  const Peaks own = {60e9, 36e9, 30e9, "how", ""};
  measured.peaks = {kept, own, "kept", "2026-11-15 12:00:00 UTC", "why"};
  return measured;
}

Arguments two_sequences() {
  Arguments arguments;
  arguments.batch = 2;
  arguments.new_tokens = 3;
  arguments.requests = 2;
  return arguments;
}

void expect_statistics(const Json& json, double mean, double std, int count) {
  EXPECT_DOUBLE_EQ(json.at("mean").get<double>(), mean);
  EXPECT_NEAR(json.at("std").get<double>(), std, 1e-9);
  EXPECT_EQ(json.at("count").get<int>(), count);
}

TEST(Metrics, HaveTheMeanAndSpreadOfEachStage) {
  const Json json = Json::parse(metrics_json(two_sequences(), two_requests()));
  const Json& stages = json.at("aggregates").at("stage_ms");
  expect_statistics(stages.at("prefill"), 12, std::sqrt(8.0), 2);
  expect_statistics(stages.at("decode"), 22, std::sqrt(8.0), 2);
  // 9, 11, 10, 14: squares of -2, 0, -1, 3 over 3.
  expect_statistics(stages.at("decode_step"), 11, std::sqrt(14.0 / 3), 4);
  // 4 tokens in 20 ms and in 24 ms.
  const double slow = 4 / 0.024;
  expect_statistics(json.at("aggregates").at("tokens_per_s"), (200 + slow) / 2,
                    (200 - slow) / std::numbers::sqrt2, 2);
  EXPECT_EQ(json.at("tokens_per_s"), json.at("aggregates").at("tokens_per_s").at("mean"));
}

TEST(Metrics, SayWhatRan) {
  const Json json = Json::parse(metrics_json(two_sequences(), two_requests()));
  EXPECT_EQ(json.at("model"), "cpu_llm");
  EXPECT_EQ(json.at("prompt_tokens"), 64);
  EXPECT_EQ(json.at("new_tokens"), 3);
  EXPECT_EQ(json.at("batch"), 2);
  EXPECT_EQ(json.at("requests"), 2);
  EXPECT_EQ(json.at("seed"), 1);
  EXPECT_EQ(json.at("tokens_hash"), "0000000000000abc");
  EXPECT_EQ(json.at("config").at("num_key_value_heads"), 4);
}

TEST(Metrics, HaveTheDeviceAndItsPeaks) {
  const Json device = Json::parse(metrics_json(two_sequences(), two_requests())).at("device");
  EXPECT_EQ(device.at("kind"), "cpu");
  EXPECT_EQ(device.at("name"), "Neoverse-N1");
  EXPECT_EQ(device.at("threads"), 2);
  EXPECT_EQ(device.at("number_format"), "f32");
  EXPECT_EQ(device.at("peak_flops_per_s"), 75e9);
  EXPECT_EQ(device.at("peak_bytes_per_s"), 37e9);
  EXPECT_EQ(device.at("method"), "how");
  EXPECT_EQ(device.at("peaks_from"), "kept");
  EXPECT_EQ(device.at("peaks_measured_at"), "2026-11-15 12:00:00 UTC");
  EXPECT_EQ(device.at("own_peak_flops_per_s"), 60e9);
  EXPECT_EQ(device.at("own_peak_bytes_per_s"), 36e9);
  EXPECT_EQ(device.at("peaks_note"), "why");
  EXPECT_EQ(device.at("weights_over_cache"), 8.0);
  EXPECT_FALSE(device.contains("note"));
}

TEST(Metrics, NoteWeightsThatStayInTheCache) {
  Measurements measured = two_requests();
  measured.device.weights_bytes = 100U << 20U;
  const Json device = Json::parse(metrics_json(two_sequences(), measured)).at("device");
  EXPECT_NE(device.at("note").get<std::string>().find("MBU may exceed 100 %"), std::string::npos);
}

TEST(Metrics, LeaveOutWhatIsNotKnown) {
  Measurements measured = two_requests();
  measured.requests = {{{10'000'000, {}}, {}, {}}};
  measured.peaks.reset();
  measured.device.last_level_cache_bytes.reset();
  const Json json = Json::parse(metrics_json({}, measured));
  const Json& stages = json.at("aggregates").at("stage_ms");
  EXPECT_TRUE(stages.at("prefill").at("std").is_null());
  EXPECT_FALSE(stages.contains("decode"));
  EXPECT_FALSE(stages.contains("decode_step"));
  EXPECT_FALSE(json.contains("tokens_per_s"));
  EXPECT_FALSE(json.at("device").contains("peak_flops_per_s"));
  EXPECT_TRUE(json.at("device").at("last_level_cache_bytes").is_null());
  EXPECT_TRUE(json.at("device").at("weights_over_cache").is_null());
}

TEST(Metrics, TellOfRanks) {
  Measurements measured = two_requests();
  EXPECT_FALSE(Json::parse(metrics_json(two_sequences(), measured)).contains("tensor_parallel"));
  Arguments arguments = two_sequences();
  arguments.shape.parts = 2;
  measured.delay = Delay{6, 20};  // over both requests
  const Json even = Json::parse(metrics_json(arguments, measured)).at("tensor_parallel");
  EXPECT_EQ(even, (Json{{"ranks", 2}}));
  arguments.slow_rank = 1;
  arguments.slow_by = 1.5;
  const Json slow = Json::parse(metrics_json(arguments, measured)).at("tensor_parallel");
  EXPECT_EQ(slow.at("slow_rank"), 1);
  EXPECT_EQ(slow.at("slow_by"), 1.5);
  EXPECT_EQ(slow.at("delay_ms").at("prefill"), 3.0);
  EXPECT_EQ(slow.at("delay_ms").at("decode"), 10.0);
  const auto steps = static_cast<double>(measured.requests[0].decode_steps_ns.size() +
                                         measured.requests[1].decode_steps_ns.size());
  EXPECT_EQ(slow.at("delay_ms").at("decode_step"), 20.0 / steps);
  EXPECT_NE(summary(arguments, measured).find("2 ranks, each with its part of the model; rank 1 "),
            std::string::npos);
}

TEST(Metrics, AreReadByTheProfiler) {
  const llmprof::testing::TemporaryFolder folder;
  const auto trace = llmprof::testing::read_capture(
      folder.write("metrics.json", metrics_json(two_sequences(), two_requests())));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_TRUE(trace->workload);
  EXPECT_EQ(trace->workload->model, "cpu_llm");
  EXPECT_EQ(trace->workload->batch, 2U);
  ASSERT_EQ(trace->workload->stages.size(), 3U);
  EXPECT_EQ(trace->workload->stages[1].name, "decode");
  EXPECT_DOUBLE_EQ(trace->workload->stages[1].mean_ms, 22);
  EXPECT_TRUE(trace->diagnostics.items().empty());
}

TEST(Metrics, SurviveAnyName) {
  Arguments arguments = two_sequences();
  arguments.name = "a\"b\\\xff";
  EXPECT_TRUE(Json::parse(metrics_json(arguments, two_requests())).at("model").is_string());
}

TEST(Metrics, OfOneValueHaveNoSpread) {
  EXPECT_FALSE(statistics({}));
  const std::vector<double> one = {3};
  EXPECT_FALSE(statistics(one)->std);
  EXPECT_EQ(statistics(one)->mean, 3);
}

TEST(Metrics, AreSummedUpForAPerson) {
  Measurements measured = two_requests();
  for (RequestTiming& request : measured.requests) {
    request.prefill.cost = {480'000'000, 120'000'000};
    request.decode.cost = {88'000'000, 660'000'000};
  }
  const std::string text = summary(two_sequences(), measured);
  // 960 MFLOP in 24 ms of 75 GFLOP/s; 1.32 GB in 44 ms of 37 GB/s.
  EXPECT_NE(text.find("40.0 GFLOP/s (53 % of the measured peak)"), std::string::npos) << text;
  EXPECT_NE(text.find("30.0 GB/s (81 %"), std::string::npos) << text;
  EXPECT_NE(text.find("183.3 tokens/s"), std::string::npos) << text;
  EXPECT_NE(text.find("0000000000000abc"), std::string::npos) << text;
}

}  // namespace
}  // namespace cpu_llm
