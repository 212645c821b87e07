#include <gtest/gtest.h>

#include <cmath>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "testing/readers/ncu_kernels.h"
#include "testing/readers/read_ncu.h"
#include "testing/shared_captures.h"

namespace llmprof::readers {
namespace {

// Oracle: Python's csv and decimal over the same files (thousands separators removed, units by the
// header's second row): counts, sums in the base unit, minimum and maximum.
void expect_metric(const trace::Trace& trace, std::string_view name, std::string_view unit,
                   uint64_t count, double sum, double min, double max) {
  const auto values = metric_over_all(trace, name, unit);
  ASSERT_TRUE(values) << name;
  EXPECT_EQ(values->count, count) << name;
  EXPECT_NEAR(values->sum, sum, std::abs(sum) * 1e-12) << name;
  EXPECT_NEAR(values->min, min, std::abs(min) * 1e-12) << name;
  EXPECT_NEAR(values->max, max, std::abs(max) * 1e-12) << name;
}

TEST(NcuCaptures, DecodeRawPage) {
  const auto captures = testing::h200_captures();
  const trace::Trace trace = read_ncu_csv(captures / "h200-llama-eager/ncu_decode_raw.csv.gz");
  ASSERT_EQ(trace.profiled_launches.size(), 120U);
  EXPECT_EQ(total_duration(trace), 450'528);
  EXPECT_TRUE(trace.diagnostics.items().empty());
  expect_metric(trace, "dram__cycles_elapsed.sum", "cycle", 120, 68'533'504, 285'440, 1'955'328);
  expect_metric(trace, "dram__bytes.sum.per_second", "byte/s", 120, 29.199038e12, 0.001356e12,
                2.897891e12);
  expect_metric(trace, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", 120, 266.604091,
                0.004118, 11.486912);
  expect_metric(trace,
                "sm__ops_path_tensor_op_bgmma_src_int1.avg.peak_sustained_elapsed.per_second", "",
                120, 15187025689381702.61, 118202486036838.98, 129376650267379.69);
  EXPECT_FALSE(metric_over_all(trace, "derived__local_spilling_requests_pct", "%"));
  EXPECT_FALSE(metric_over_all(trace, "device__attribute_clock_rate", ""));
  EXPECT_FALSE(metric_over_all(trace, "nvlink__max_count", ""));
  uint64_t registers = 0;
  uint64_t dynamic_shared = 0;
  for (size_t i = 0; i < 120; ++i) {
    const trace::LaunchShape& shape = trace.shapes[identity_of_launch(trace, i).shape];
    registers += shape.registers_per_thread;
    dynamic_shared += shape.dynamic_shared_bytes;
  }
  EXPECT_EQ(registers, 6103U);
  EXPECT_EQ(dynamic_shared, 2'973'492U);
  // Same as nsys's TARGET_INFO_GPU for this GPU.
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(trace.devices[0].sm_count, 132U);
  EXPECT_EQ(trace.devices[0].clock_hz, 1'980'000'000U);
  EXPECT_EQ(trace.devices[0].memory_bytes, 150'109'880'320U);
  EXPECT_EQ(trace.devices[0].memory_bandwidth, 4'814'304'000'000U);
  EXPECT_EQ(trace.devices[0].compute_capability, "9.0");
}

// ncu rounds the details page to two decimals of the printed unit (here us); the raw page has all
// digits. The details page has registers and shared memory only with the section LaunchStats, which
// this run did not collect.
TEST(NcuCaptures, BothPagesGiveTheSameLaunches) {
  const auto captures = testing::h200_captures();
  const trace::Trace raw = read_ncu_csv(captures / "h200-llama-eager/ncu_decode_raw.csv.gz");
  const trace::Trace details =
      read_ncu_csv(captures / "h200-llama-eager/ncu_decode_details.csv.gz");
  ASSERT_EQ(raw.profiled_launches.size(), details.profiled_launches.size());
  for (size_t i = 0; i < raw.profiled_launches.size(); ++i) {
    const trace::ProfiledIdentity& a = identity_of_launch(raw, i);
    const trace::ProfiledIdentity& b = identity_of_launch(details, i);
    EXPECT_EQ(raw.strings[a.name], details.strings[b.name]);
    EXPECT_EQ(raw.strings[a.ranges], "decode_all/decode_step");
    EXPECT_EQ(raw.strings[a.ranges], details.strings[b.ranges]);
    EXPECT_EQ(raw.shapes[a.shape].grid, details.shapes[b.shape].grid);
    EXPECT_EQ(raw.shapes[a.shape].block, details.shapes[b.shape].block);
    EXPECT_EQ(raw.devices[a.device.index()].ordinal, details.devices[b.device.index()].ordinal);
    const auto exact = static_cast<double>(raw.profiled_launches.duration[i]);
    EXPECT_EQ(details.profiled_launches.duration[i], std::llround(exact / 10) * 10) << i;
  }
  EXPECT_EQ(total_duration(details), 450'530);
  EXPECT_EQ(diagnostic_count(details, "ncu_rounded_durations"), 120U);
  expect_metric(details, "Memory Throughput", "byte/s", 120, 29206390000000.0, 1.36e9, 2.9e12);
}

TEST(NcuCaptures, LivePrefillOutput) {
  const auto captures = testing::h200_captures();
  const auto path = captures / "h200-llama-eager/ncu_prefill_live.csv.gz";
  const auto rows = parse_ncu_file(path, kNcuCsvReader);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->profiled_launches.size(), 200U);
  EXPECT_EQ(total_duration(*rows), 1'935'904);
  expect_metric(*rows, "dram__bytes_read.sum", "byte", 200, 1612548352, 2816, 50357760);
  const auto records = kernels_from_ncu_rows(*rows, "cuda:0");
  ASSERT_EQ(records.size(), 26U);
  EXPECT_EQ(records[0].kernel_name, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT");
  EXPECT_EQ(records[0].calls, 8U);
  EXPECT_DOUBLE_EQ(records[0].total_ms, 0.367136);
  EXPECT_EQ(records[1].calls, 14U);
  EXPECT_DOUBLE_EQ(records[1].total_ms, 0.326624);
  EXPECT_EQ(records[2].calls, 29U);
  EXPECT_DOUBLE_EQ(records[2].total_ms, 0.209568);
}

TEST(SharedCapturesNcu, PublicRaggedDetails) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const trace::Trace trace =
      read_ncu_csv(captures / "public/CodeGandee+llm-perf-opt__k0001_ncu.details.csv");
  ASSERT_EQ(trace.profiled_launches.size(), 1U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 6460);
  EXPECT_EQ(trace.metric_values.size(), 41U);  // 44 metrics, three n/a
  EXPECT_FALSE(trace.diagnostics.has("ncu_bad_rows"));
  expect_metric(trace, "dram__bytes_read.sum", "byte", 1, 2.33e6, 2.33e6, 2.33e6);
}

TEST(SharedCapturesNcu, PublicThousandsAndRules) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const trace::Trace trace =
      read_ncu_csv(captures / "public/brycelelbach+nsightful__copy_blocked.csv");
  ASSERT_EQ(trace.profiled_launches.size(), 1U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 21'058'944);
  EXPECT_EQ(trace.metric_values.size(), 71U);  // 72 metrics, one is text
  expect_metric(trace, "DRAM Frequency", "hz", 1, 4963609951.19, 4963609951.19, 4963609951.19);
  EXPECT_EQ(trace.shapes[identity_of_launch(trace, 0).shape].registers_per_thread, 32U);
}

TEST(SharedCapturesNcu, PublicFailuresAreRefusedWithTheRemedy) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const auto refusal = [&](const char* name) {
    const auto head = read_head(captures / "public" / name, 65536);
    EXPECT_TRUE(head && kNcuCsvReader.recognizes(*head)) << name;
    trace::TraceBuilder builder;
    const auto done = kNcuCsvReader.read(captures / "public" / name, builder);
    EXPECT_FALSE(done);
    return done ? std::string() : done.error().message;
  };
  EXPECT_TRUE(contains(refusal("Mlightsnow+DD2360-llm.c__fp32_ncu_ERR_NVGPUCTRPERM.txt"),
                       "NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_TRUE(
      contains(refusal("brycelelbach+nsightful__copy_blocked_cli_text.txt"), "--page raw --csv"));
}

}  // namespace
}  // namespace llmprof::readers
