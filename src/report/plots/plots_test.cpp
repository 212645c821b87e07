#include "report/plots/plots.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/plots/svg.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

using testing::full_sample;
using testing::profiler_sample;
using testing::requests_sample;
using testing::serving_sample;

bool shows(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Plots, OfEverythingAnAnalysisCanFind) {
  profile::Profile sample = full_sample();
  sample.requests = requests_sample().requests;
  for (const auto& [file, draw] : kPlots) {
    const auto plot = draw(shown(sample));
    ASSERT_TRUE(plot) << file;
    EXPECT_EQ(plot->file, file);
    EXPECT_TRUE(plot->svg.starts_with("<svg ")) << file;
    EXPECT_TRUE(plot->svg.ends_with("</svg>\n")) << file;
    EXPECT_FALSE(plot->description.empty()) << file;
  }
}

TEST(Plots, AreTheSameForTheSameProfile) {
  for (const auto& sample : {full_sample(), serving_sample()}) {
    for (const auto& [file, draw] : kPlots) {
      const auto first = draw(shown(sample));
      const auto second = draw(shown(sample));
      ASSERT_EQ(first.has_value(), second.has_value()) << file;
      EXPECT_EQ(first ? first->svg : "", second ? second->svg : "") << file;
    }
  }
}

TEST(Plots, WithoutDataAreNotDrawn) {
  for (const auto& [file, draw] : kPlots) EXPECT_FALSE(draw(profile::Profile{})) << file;
  const profile::Profile without_stages = profiler_sample();
  EXPECT_FALSE(budget_plot(shown(without_stages)));
  EXPECT_FALSE(steps_plot(without_stages));
  EXPECT_TRUE(top_kernels_plot(without_stages));
}

TEST(RequestPlots, HaveADotForEachWaitOfCompletedRequests) {
  const std::string svg = requests_plot(shown(requests_sample()))->svg;
  EXPECT_EQ(count(svg, "<circle"), 2U + 3U + 2U);
  EXPECT_TRUE(shows(svg, "request early: 3.4000 ms")) << svg;
  EXPECT_FALSE(shows(svg, "request broken")) << svg;
}

TEST(RequestPlots, OfManyRequestsAreDrawnByColumn) {
  profile::Profile sample = requests_sample();
  for (size_t i = 0; i < 1000; ++i) sample.requests->items.push_back(sample.requests->items[0]);
  EXPECT_LT(count(requests_plot(shown(sample))->svg, "<circle"), 1100U);
}

TEST(RequestPlots, NeedAbsoluteTimesAndCauses) {
  profile::Profile sample = requests_sample();
  for (auto& item : sample.requests->items) item.sent.reset();
  EXPECT_FALSE(requests_plot(shown(sample)));
  EXPECT_TRUE(request_tails_plot(shown(sample)));
  sample.requests->tail.clear();
  EXPECT_FALSE(request_tails_plot(shown(sample)));
}

TEST(RequestPlots, StackThePartsOfTheTailAndOfTheMedian) {
  const auto plot = request_tails_plot(shown(requests_sample()));
  EXPECT_TRUE(shows(plot->svg, "prefill of others: 2.000 ms")) << plot->svg;
  EXPECT_TRUE(shows(plot->svg, "own decode: 2.000 ms")) << plot->svg;
  EXPECT_TRUE(shows(plot->description, "request late delays them most")) << plot->description;
}

TEST(Plots, OfAHostileNameEscapeIt) {
  profile::Profile sample = full_sample();
  for (profile::Kernel& kernel : sample.kernels) {
    kernel.short_name = "<img src=x onerror=\"alert(1)\"> & ]]>";
    kernel.kernel_name = kernel.short_name;
  }
  const auto plot = top_kernels_plot(sample);
  ASSERT_TRUE(plot);
  EXPECT_FALSE(shows(plot->svg, "<img"));
  EXPECT_TRUE(shows(plot->svg, "&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; ]]&gt;"));
}

TEST(BudgetPlot, SaysItsLargestParts) {
  profile::Profile sample = full_sample();
  for (profile::Stage& stage : sample.stages) {
    const double wall = stage.wall.mean->value * static_cast<double>(stage.wall.count);
    testing::set_budget(stage,
                        {{"gemm", wall * 0.75}, {"idle: synchronisation", wall * 0.25, true}});
  }
  const auto plot = budget_plot(shown(sample));
  ASSERT_TRUE(plot);
  EXPECT_TRUE(shows(plot->description, "gemm 75.0 %, idle: synchronization 25.0 %."));
  // Three quarters and one quarter of 832 pixels.
  EXPECT_EQ(count(plot->svg, "width=\"624\""), sample.stages.size());
  EXPECT_EQ(count(plot->svg, "width=\"208\""), sample.stages.size());
}

profile::RooflineKernel counted_kernel(std::string name, double flops) {
  profile::RooflineKernel kernel;
  kernel.short_name = std::move(name);
  kernel.source = profile::RooflineSource::counters;
  kernel.samples = 41;
  kernel.bytes_per_s = profile::BytesPerSecond{1e12};
  if (flops > 0) {
    kernel.flops_per_s = profile::FlopsPerSecond{flops};
    kernel.flops_per_byte = profile::FlopsPerByte{flops / 1e12};
  }
  return kernel;
}

TEST(RooflinePlot, DistinguishesKernelsByCounters) {
  profile::Profile sample = full_sample();
  sample.roofline.kernels = {counted_kernel("counted", 4e14), counted_kernel("bandwidth alone", 0)};
  const auto plot = roofline_plot(shown(sample));
  ASSERT_TRUE(plot);
  EXPECT_TRUE(shows(plot->svg, "counted: 400.00 FLOP/B, 400.00 TFLOP/s, by counters"));
  EXPECT_FALSE(shows(plot->svg, "bandwidth alone"));
  EXPECT_FALSE(shows(plot->svg, "ncu"));
  EXPECT_TRUE(shows(plot->description, "Kernels by samples of the GPU's counters."));
  EXPECT_EQ(count(plot->svg, "<circle"), 0);  // dots are for ncu
  sample.roofline.kernels[1] = counted_kernel("measured", 2e14);
  sample.roofline.kernels[1].source = profile::RooflineSource::ncu;
  const auto both = roofline_plot(shown(sample));
  ASSERT_TRUE(both);
  EXPECT_EQ(count(both->svg, "<circle"), 2);  // in the picture and in its legend
  EXPECT_TRUE(shows(both->svg, "dots as ncu measured them, triangles by the GPU"));
}

TEST(StepsPlot, OfManyStepsDrawsColumns) {
  profile::Profile sample = full_sample();
  const profile::Step step = sample.steps.back();
  const size_t before = sample.steps.size();
  for (size_t i = 0; i < 5000; ++i) sample.steps.push_back(step);
  const auto plot = steps_plot(sample);
  ASSERT_TRUE(plot);
  EXPECT_EQ(count(plot->svg, "<circle"), 0);
  EXPECT_LT(plot->svg.size(), 200'000);
  EXPECT_TRUE(shows(plot->svg, "5,0")) << before;
}

TEST(StepsPlot, LeavesOutWarmUpAndStepsOfUnknownLength) {
  profile::Profile sample = full_sample();
  const auto all = steps_plot(sample);
  ASSERT_TRUE(all);
  sample.steps.back().after_untraced = true;
  const auto fewer = steps_plot(sample);
  ASSERT_TRUE(fewer);
  EXPECT_EQ(count(all->svg, "<circle"), count(fewer->svg, "<circle") + 1);
}

TEST(Svg, ShortensWhatDoesNotFit) {
  const std::string name(200, 'x');
  const std::string cut = fitted(name, 300, 12, true);
  EXPECT_LE(text_width(cut, 12, true), 300);
  EXPECT_GT(text_width(cut, 12, true), 280);
  EXPECT_EQ(fitted("gemm", 300, 12), "gemm");
}

TEST(Svg, WritesWhatCanBeReadOnAColor) {
  EXPECT_EQ(text_on({"#ffffff", "#000000"}).light, "#000000");
  EXPECT_EQ(text_on({"#ffffff", "#000000"}).dark, "#ffffff");
}

TEST(Axis, MarksRoundValues) {
  EXPECT_EQ(marks_of({0, 10, 0, 100}, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(marks_of({0.5, 2000, 0, 100, true}, 5), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(marks_of({1, 9, 0, 100, true}, 5), (std::vector<double>{1, 2, 5}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(marks_of({1, kInfinity, 0, 100, true}, 5).empty());
  EXPECT_TRUE(marks_of({0, kInfinity, 0, 100}, 5).empty());
  EXPECT_TRUE(marks_of({1e300, 1e300 + 1e284, 0, 100}, 5).empty());
  EXPECT_TRUE(marks_of({-1, 9, 0, 100, true}, 5).empty());
  EXPECT_EQ(marks_of({1, 1e308, 0, 100, true}, 5).size(), 309U);
  EXPECT_TRUE(marks_of({3, 3, 0, 100}, 5).empty());
  EXPECT_DOUBLE_EQ((Axis{1, 100, 0, 10, true}.place(10)), 5);
}

}  // namespace
}  // namespace llmprof::report
