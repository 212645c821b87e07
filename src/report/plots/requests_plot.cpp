#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"

namespace llmprof::report {
namespace {

constexpr double kTimesLeft = 76;
constexpr double kTimesRight = 856;
constexpr double kTimesHeight = 190;
constexpr double kTimesPitch = 268;
constexpr double kTimesHead = 84;
constexpr size_t kMostTimeDots = 3000;  // more are drawn as one line per column of pixels
constexpr double kLinearBelow = 8;      // below this ratio of largest to smallest
constexpr Color kTimeDots = {"#0072b2", "#3698f5"};
constexpr Color kTimesMedian = {"#009e73", "#4fc9a0"};
constexpr Color kTimesTail = {"#d55e00", "#f0813a"};

// A time that a client waited.
struct Wait {
  double at = 0;      // s after the first request
  double length = 0;  // ms
  const Request* request = nullptr;
};

struct WaitSeries {
  RequestFigure figure{};
  std::string_view title;
  const RequestTimes* times = nullptr;
  std::vector<Wait> waits = {};
};

double first_sent(const Requests& requests) {
  double first = INFINITY;
  for (const Request& each : requests.items) {
    if (each.sent) first = std::min(first, each.sent->value);
  }
  return first;
}

// Those of the recorded load that statistics include.
std::vector<WaitSeries> waits_of(const Requests& requests) {
  WaitSeries first{RequestFigure::ttft, "Time to first token of each request", &requests.ttft};
  WaitSeries gaps{RequestFigure::itl, "Gaps between chunks of tokens", &requests.itl};
  const double origin = first_sent(requests);
  for (const Request& each : requests.items) {
    if (!each.sent || each.warm_up || each.status != RequestStatus::completed) continue;
    const auto add = [&](Nanoseconds from, Nanoseconds to, WaitSeries& series) {
      const double length = to_milliseconds(to - from).value;
      if (length <= 0) return;
      const double at = each.sent->value - origin + to_milliseconds(from).value;
      series.waits.push_back({at / 1e3, length, &each});
    };
    if (each.ttft) add(0, each.ttft->value, first);
    for (size_t i = 1; i < each.token_times.size(); ++i) {
      add(each.token_times[i - 1].value, each.token_times[i].value, gaps);
    }
  }
  std::vector<WaitSeries> all = {std::move(first), std::move(gaps)};
  std::erase_if(all, [](const WaitSeries& series) {
    return series.waits.size() < 2 || !series.times->p50 || !series.times->p99;
  });
  return all;
}

Axis length_axis(const WaitSeries& series, double top) {
  const auto [least, most] = std::ranges::minmax(series.waits, {}, &Wait::length);
  const bool logarithmic = most.length / least.length >= kLinearBelow;
  return {.low = logarithmic ? least.length / 1.2 : 0,
          .high = most.length * (logarithmic ? 1.2 : 1.08),
          .from = top + kTimesHeight,
          .to = top,
          .logarithmic = logarithmic};
}

void draw_waits(const WaitSeries& series, const Axis& x, const Axis& y, Svg& svg) {
  if (series.waits.size() <= kMostTimeDots) {
    const double radius = series.waits.size() > 400 ? 1.8 : 2.8;
    for (const Wait& wait : series.waits) {
      svg.dot(x.place(wait.at), y.place(wait.length), radius, kTimeDots,
              fmt::format("request {}: {} ms", wait.request->id,
                          figure_ms(series.figure, Milliseconds{wait.length})));
    }
    return;
  }
  struct Range {
    double low = INFINITY;
    double high = 0;
  };
  std::vector<Range> columns(static_cast<size_t>(x.to - x.from) + 1);
  for (const Wait& wait : series.waits) {
    const auto column = static_cast<size_t>(x.place(wait.at) - x.from);
    Range& range = columns[std::min(column, columns.size() - 1)];
    range.low = std::min(range.low, wait.length);
    range.high = std::max(range.high, wait.length);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& [low, high] = columns[i];
    if (high == 0) continue;
    svg.bar(x.from + static_cast<double>(i), y.place(high), 1,
            std::max(1.5, y.place(low) - y.place(high)), kTimeDots);
  }
}

void draw_wait_panel(const WaitSeries& series, const Axis& x, double top, Svg& svg) {
  const Axis y = length_axis(series, top);
  for (const double mark : marks_of(y, 5)) {
    svg.rule(kTimesLeft, y.place(mark), kTimesRight, mark_text(mark));
  }
  svg.line(kTimesLeft, y.from, kTimesRight, y.from, Svg::Stroke::axis);
  for (const double mark : marks_of(x, 8)) {
    svg.text(x.place(mark), y.from + 18, mark_text(mark) + " s",
             {.size = 12, .anchor = Svg::Anchor::middle, .muted = true});
  }
  const RequestTimes& times = *series.times;
  svg.line(kTimesLeft, y.place(times.p50->value), kTimesRight, y.place(times.p50->value),
           kTimesMedian, false);
  svg.line(kTimesLeft, y.place(times.p99->value), kTimesRight, y.place(times.p99->value),
           kTimesTail, true);
  draw_waits(series, x, y, svg);
  double at = kTimesLeft;
  svg.text(at, top - 12, series.title, {.size = 15, .bold = true});
  at += text_width(series.title, 15) + 30;
  const auto key = [&](const Color& color, bool dashed, const std::string& words) {
    svg.line(at, top - 16, at + 24, top - 16, color, dashed);
    svg.text(at + 30, top - 12, words, {.size = 13});
    at += 30 + text_width(words, 13) + 18;
  };
  key(kTimesMedian, false, fmt::format("p50 {} ms", figure_ms(series.figure, times.p50)));
  key(kTimesTail, true, fmt::format("p99 {} ms", figure_ms(series.figure, times.p99)));
}

std::string waits_words(const std::vector<WaitSeries>& all) {
  return "Times of the recorded load, over time." + joined(all, "", [](const WaitSeries& series) {
           return fmt::format(" The {}: p50 {} ms, p99 {} ms, longest {} ms.",
                              in_words(series.figure), figure_ms(series.figure, series.times->p50),
                              figure_ms(series.figure, series.times->p99),
                              figure_ms(series.figure, series.times->max));
         });
}

}  // namespace

std::optional<Plot> requests_plot(const Profile& profile) {
  if (!profile.requests) return std::nullopt;
  const std::vector<WaitSeries> all = waits_of(*profile.requests);
  if (all.empty()) return std::nullopt;
  const std::string description = waits_words(all);
  Svg svg(kTimesHead + kTimesPitch * static_cast<double>(all.size()), "Requests over time",
          description);
  svg.head("Requests over time",
           {"ms as the client saw them; seconds after the first request; warm-up excluded"});
  double last = 0;
  for (const WaitSeries& series : all) {
    for (const Wait& wait : series.waits) last = std::max(last, wait.at);
  }
  const Axis x{0, std::max(last, 1e-3), kTimesLeft + 6, kTimesRight - 6};
  double top = kTimesHead + 28;
  for (const WaitSeries& series : all) {
    draw_wait_panel(series, x, top, svg);
    top += kTimesPitch;
  }
  return Plot{kRequestsFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
