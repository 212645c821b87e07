#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>

#include "report/format/figures.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"

namespace llmprof::report {
namespace {

constexpr double kStepsLeft = 76;
constexpr double kStepsRight = 856;
constexpr double kPanelHeight = 190;
constexpr double kPanelPitch = 268;
constexpr double kStepsHead = 84;
constexpr size_t kMostPanels = 3;
constexpr size_t kFewestSteps = 2;
constexpr size_t kMostDots = 1500;  // more are drawn as one line per column of pixels
constexpr double kFlatBelow = 8;    // a linear axis is used below this ratio of largest to smallest
constexpr Color kDots = {"#0072b2", "#3698f5"};
constexpr Color kMedianLine = {"#009e73", "#4fc9a0"};
constexpr Color kTailLine = {"#d55e00", "#f0813a"};

// Steps that statistics include, in the order of the profile: no warm-up, known wall time.
struct StepSeries {
  const Stage* stage = nullptr;
  std::vector<const Step*> steps = {};

  [[nodiscard]] const Statistics<Milliseconds>& times() const { return *stage->step_wall; }
};

StepSeries series_of(const Profile& profile, const Stage& stage) {
  StepSeries series{&stage};
  for (const Step& step : profile.steps) {
    if (step.stage != stage.name || step.after_untraced || step.wall.value <= 0) continue;
    if (step.instance < stage.instances.size() && stage.instances[step.instance].warmup) continue;
    series.steps.push_back(&step);
  }
  return series;
}

std::vector<StepSeries> all_series(const Profile& profile) {
  std::vector<StepSeries> all;
  for (const Stage& stage : profile.stages) {
    if (!stage.step_wall || !stage.step_wall->p50 || !stage.step_wall->p99) continue;
    StepSeries series = series_of(profile, stage);
    if (series.steps.size() >= kFewestSteps) all.push_back(std::move(series));
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const StepSeries& series) { return series.steps.size(); });
  if (all.size() > kMostPanels) all.resize(kMostPanels);
  return all;
}

double wall_of(const Step* step) { return step->wall.value; }

Axis time_axis(const StepSeries& series, double top) {
  const auto [least, most] = std::ranges::minmax(series.steps | std::views::transform(wall_of));
  const bool logarithmic = most / least >= kFlatBelow;
  return {.low = logarithmic ? least / 1.2 : 0,
          .high = most * (logarithmic ? 1.2 : 1.08),
          .from = top + kPanelHeight,
          .to = top,
          .logarithmic = logarithmic};
}

void draw_steps(const StepSeries& series, const Axis& x, const Axis& y, Svg& svg) {
  if (series.steps.size() <= kMostDots) {
    const double radius = series.steps.size() > 400 ? 1.8 : 2.8;
    for (size_t i = 0; i < series.steps.size(); ++i) {
      const Step& step = *series.steps[i];
      svg.dot(x.place(static_cast<double>(i)), y.place(step.wall.value), radius, kDots,
              fmt::format("instance {}, step {}: {} ms", step.instance, step.step_of_instance,
                          fine_ms(step.wall)));
    }
    return;
  }
  const auto columns = static_cast<size_t>(x.to - x.from);
  const auto first_of = [&](size_t column) { return column * series.steps.size() / columns; };
  for (size_t column = 0; column < columns; ++column) {
    const size_t begin = first_of(column);
    const size_t steps = std::max<size_t>(1, first_of(column + 1) - begin);
    const auto [low, high] = std::ranges::minmax(std::span(series.steps).subspan(begin, steps) |
                                                 std::views::transform(wall_of));
    const double at = x.from + static_cast<double>(column);
    const double height = std::max(1.5, y.place(low) - y.place(high));
    svg.bar(at, y.place(high), 1, height, kDots);
  }
}

void draw_panel(const StepSeries& series, double top, Svg& svg) {
  const Axis y = time_axis(series, top);
  const Axis x{0, static_cast<double>(series.steps.size() - 1), kStepsLeft + 6, kStepsRight - 6};
  for (const double mark : marks_of(y, 5)) {
    svg.rule(kStepsLeft, y.place(mark), kStepsRight, mark_text(mark));
  }
  svg.line(kStepsLeft, y.from, kStepsRight, y.from, Svg::Stroke::axis);
  for (const double mark : marks_of(x, 8)) {
    if (mark != std::floor(mark)) continue;
    svg.text(x.place(mark), y.from + 18, mark_text(mark),
             {.size = 12, .anchor = Svg::Anchor::middle, .muted = true});
  }
  const auto& times = series.times();
  svg.line(kStepsLeft, y.place(times.p50->value), kStepsRight, y.place(times.p50->value),
           kMedianLine, false);
  svg.line(kStepsLeft, y.place(times.p99->value), kStepsRight, y.place(times.p99->value), kTailLine,
           true);
  draw_steps(series, x, y, svg);
  // The key to the lines is above the panel, so that nothing is drawn over it.
  double at = kStepsLeft;
  svg.text(at, top - 12, series.stage->name, {.size = 15, .bold = true});
  at += text_width(series.stage->name, 15) + 18;
  const auto key = [&](const Color& color, bool dashed, const std::string& words) {
    svg.line(at, top - 16, at + 24, top - 16, color, dashed);
    svg.text(at + 30, top - 12, words, {.size = 13});
    at += 30 + text_width(words, 13) + 18;
  };
  key(kMedianLine, false, fmt::format("p50 {} ms", fine_ms(times.p50)));
  key(kTailLine, true, fmt::format("p99 {} ms", fine_ms(times.p99)));
  svg.text(kStepsRight, top - 12, counted(series.steps.size(), "step"),
           {.anchor = Svg::Anchor::end, .muted = true});
}

std::string steps_words(const std::vector<StepSeries>& all) {
  std::string words = "Wall time of each step as recorded.";
  for (const StepSeries& series : all) {
    words += fmt::format(" {}: {}, p50 {} ms, p99 {} ms, longest {} ms.", series.stage->name,
                         counted(series.steps.size(), "step"), fine_ms(series.times().p50),
                         fine_ms(series.times().p99), fine_ms(series.times().max));
  }
  return words;
}

}  // namespace

std::optional<Plot> steps_plot(const Profile& profile) {
  const std::vector<StepSeries> all = all_series(profile);
  if (all.empty()) return std::nullopt;
  const std::string description = steps_words(all);
  Svg svg(kStepsHead + kPanelPitch * static_cast<double>(all.size()), "Wall time of each step",
          description);
  const bool traced = std::ranges::any_of(
      all, [](const StepSeries& series) { return series.stage->untraced.has_value(); });
  svg.head("Wall time of each step",
           {fmt::format("ms, as recorded{}; steps in order, warm-up excluded",
                        traced ? ", with what tracing adds" : "")});
  double top = kStepsHead + 28;
  for (const StepSeries& series : all) {
    draw_panel(series, top, svg);
    top += kPanelPitch;
  }
  return Plot{kStepsFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
