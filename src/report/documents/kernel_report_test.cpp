#include "report/documents/documents.h"

#include <gtest/gtest.h>

#include "report/writers/writers.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

using testing::full_sample;
using testing::profiler_sample;

std::string kernels_md(const profile::Profile& profile, size_t top = kAllKernels) {
  return to_markdown(kernel_document(profile, top));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(KernelReport, HasTheLongestKernels) {
  const profile::Profile sample = full_sample();
  ASSERT_EQ(top_n_kernels(sample, 1).size(), 1U);
  EXPECT_EQ(top_n_kernels(sample, 1).front().kernel_class, profile::KernelClass::gemm);
  EXPECT_EQ(top_n_kernels(sample, kAllKernels).size(), 2U);
}

TEST(KernelReport, SaysWhatItLeavesOut) {
  const profile::Profile sample = full_sample();
  EXPECT_FALSE(contains(kernels_md(sample), "Not shown"));
  const std::string first = kernels_md(sample, 1);
  EXPECT_FALSE(contains(first, "| `flash_fwd_splitkv_kernel"));
  EXPECT_TRUE(contains(
      first, "Not shown: 1 more kernel, 4.500000 ms (16.7 % of kernel time); profile.json"));
}

TEST(KernelReport, SaysWhereTimesComeFrom) {
  EXPECT_TRUE(
      contains(kernels_md(full_sample()),
               "30 kernels, 27.000 ms of kernel time; GPU busy with kernels 27.000 ms (overlap "
               "counted once) of a span of 60.000 ms on cuda:0 (NVIDIA H200). Each kernel of the "
               "timeline counts once."));
  const std::string profiler = kernels_md(profiler_sample());
  EXPECT_TRUE(contains(profiler,
                       "30 kernels, 27.000 ms of kernel time on cuda:0 (NVIDIA H200). A "
                       "kernel profiler measured single launches"));
  EXPECT_TRUE(contains(profiler, "Profiled one by one: 30 launches."));
}

TEST(KernelReport, SaysHowManyProfiledLaunchesFitTheTimeline) {
  profile::Profile sample = full_sample();
  sample.totals.metric_join = profile::MetricJoin{20, 15, 5, 12};
  EXPECT_TRUE(
      contains(kernels_md(sample),
               "15 of 20 profiled launches were matched to the timeline by kernel name, grid, "
               "block and range; they represent 12 of its 30 kernels. 5 were not matched."));
}

TEST(KernelReport, SumsBusyTimeOverGpus) {
  profile::Profile sample = full_sample();
  sample.totals.devices.push_back(sample.totals.devices.front());
  sample.totals.devices.back().device = "cuda:1";
  sample.totals.gpu_count = 2;
  EXPECT_TRUE(
      contains(kernels_md(sample),
               "busy with kernels 27.000 ms, summed over 2 GPUs (overlap on each counted once), "
               "of a span of 60.000 ms each on cuda:0 (NVIDIA H200), cuda:1 (NVIDIA H200)."));
  sample.totals.devices.back().span = profile::Milliseconds{20};
  EXPECT_TRUE(contains(kernels_md(sample), ", of spans of 20.000 to 60.000 ms on cuda:0"));
  sample.totals.gpu_count = 1;
  EXPECT_TRUE(contains(kernels_md(sample), "summed over 2 timelines of 1 GPU (overlap"));
}

TEST(KernelReport, SpellsClassesForReaders) {
  profile::Profile sample = full_sample();
  sample.kernels[1].kernel_class = sample.classes[1].kernel_class = profile::KernelClass::quantize;
  const std::string report = kernels_md(sample);
  EXPECT_TRUE(contains(report, "| quantization | 4.500000 |"));
  EXPECT_FALSE(contains(report, "quantise"));
}

TEST(KernelReport, NamesRanksWhereThereAreAny) {
  profile::Profile sample = full_sample();
  const std::string words = "(nsys SQLite, Nsight Systems 2025.3.2.0, rank 3)";
  EXPECT_FALSE(contains(kernels_md(sample), words));
  sample.context.captures[0].rank = 3;
  EXPECT_TRUE(contains(kernels_md(sample), words));
  EXPECT_TRUE(contains(to_markdown(kernel_overview(shown(sample), 5)), words));
}

TEST(KernelOverview, NamesDevicesOnlyWhereThereAreSeveral) {
  profile::Profile sample = full_sample();
  EXPECT_TRUE(contains(to_markdown(kernel_overview(shown(sample), 5)),
                       "| total_ms | share | calls | mean_ms | class | kernel |"));
  sample.totals.devices.push_back(sample.totals.devices.front());
  EXPECT_TRUE(contains(to_markdown(kernel_overview(shown(sample), 5)),
                       "| total_ms | share | calls | mean_ms | device | class | kernel |"));
}

TEST(KernelOverview, WarnsOfDiagnosticsButNotOfNotes) {
  profile::Profile sample = full_sample();
  sample.diagnostics.push_back({Severity::info, "clock", "the clock was adjusted", 1});
  const std::string overview = to_markdown(kernel_overview(shown(sample), 5));
  EXPECT_TRUE(contains(overview, "the profiler dropped events \\[12 times\\]"));
  EXPECT_FALSE(contains(overview, "the clock was adjusted"));
}

TEST(OperatorReport, SaysWhyThereAreNone) {
  EXPECT_TRUE(contains(to_markdown(operator_document(full_sample())), "| aten::linear | 15 |"));
  profile::Profile sample = profiler_sample();
  sample.operators_found.why_not = "no PyTorch trace is among the inputs";
  EXPECT_TRUE(contains(to_markdown(operator_document(sample)),
                       "Not available because no PyTorch trace is among the inputs."));
}

}  // namespace
}  // namespace llmprof::report
