#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"

namespace llmprof::report {
namespace {

constexpr double kTailBar = 26;
constexpr double kTailPitch = 108;  // one tail: its name and two bars
constexpr double kTailNames = 150;
constexpr double kTailLegendRow = 22;
constexpr size_t kTailLegendColumns = 3;
constexpr double kShownPixels = 0.3;

double sum_of(const RequestTail& tail, Milliseconds TailPart::* side) {
  double sum = 0;
  for (const TailPart& part : tail.parts) sum += (part.*side).value;
  return sum;
}

// In the order of the vocabulary, the same in all bars.
std::vector<RequestPart> parts_in(const std::vector<RequestTail>& tails) {
  std::vector<RequestPart> parts;
  for (const RequestTail& tail : tails) {
    for (const TailPart& part : tail.parts) {
      if (part.tail.value > 0 || part.median.value > 0) parts.push_back(part.part);
    }
  }
  std::ranges::sort(parts);
  const auto [first, last] = std::ranges::unique(parts);
  parts.erase(first, last);
  return parts;
}

void draw_tail_bar(const RequestTail& tail, Milliseconds TailPart::* side,
                   const std::vector<RequestPart>& order, double scale, double y, Svg& svg) {
  const bool of_tail = side == &TailPart::tail;
  svg.text(kPlotMargin + kTailNames - 10, y + kTailBar / 2 + 4.5,
           of_tail ? "in the tail" : "around the median",
           {.anchor = Svg::Anchor::end, .muted = true});
  double x = kPlotMargin + kTailNames;
  for (const RequestPart part : order) {
    const auto found = std::ranges::find(tail.parts, part, &TailPart::part);
    if (found == tail.parts.end()) continue;
    const double width = ((*found).*side).value * scale;
    if (width < kShownPixels) continue;
    const RequestPartLook look = look_of(part);
    svg.bar(x, y, width, kTailBar, look.color,
            fmt::format("{}: {} ms", look.shown, ms((*found).*side)));
    const std::string time = fmt::format("{} ms", ms((*found).*side));
    constexpr double kInside = 8;
    if (text_width(time, 12) + kInside <= width) {
      svg.text(x + width / 2, y + kTailBar / 2 + 4.5, time,
               {.size = 12, .anchor = Svg::Anchor::middle, .color = text_on(look.color)});
    }
    x += width;
  }
}

void draw_part_legend(const std::vector<RequestPart>& parts, double y, Svg& svg) {
  const double column = (kPlotWidth - 2 * kPlotMargin) / kTailLegendColumns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const RequestPartLook look = look_of(parts[i]);
    const size_t row = i / kTailLegendColumns;
    const double left = kPlotMargin + column * static_cast<double>(i % kTailLegendColumns);
    const double top = y + kTailLegendRow * static_cast<double>(row);
    svg.bar(left, top - 8, 12, 12, look.color);
    svg.text(left + 20, top + 2.5, look.shown);
  }
}

}  // namespace

std::optional<Plot> request_tails_plot(const Profile& profile) {
  if (!profile.requests) return std::nullopt;
  std::vector<RequestTail> tails = profile.requests->tail;
  std::erase_if(tails, [](const RequestTail& tail) { return sum_of(tail, &TailPart::tail) <= 0; });
  if (tails.empty()) return std::nullopt;
  const std::vector<RequestPart> parts = parts_in(tails);
  const std::string description =
      "What makes the slowest requests and tokens slow. " +
      joined(tails, "; ", [](const RequestTail& tail) { return tail_words(tail); }) + ".";
  const auto rows = (parts.size() + kTailLegendColumns - 1) / kTailLegendColumns;
  Svg svg(kPlotHead + kTailPitch * static_cast<double>(tails.size()) +
              kTailLegendRow * static_cast<double>(rows) + 40,
          "What makes the slowest ones slow", description);
  svg.head(
      "What makes the slowest ones slow",
      {"mean parts of the tail against those around the median, each figure on its own scale"});
  double y = kPlotHead + 6;
  for (const RequestTail& tail : tails) {
    const std::string name(in_words(tail.figure));
    svg.text(kPlotMargin, y + 14, name, {.size = 15, .bold = true});
    svg.text(kPlotMargin + text_width(name, 15) + 14, y + 14,
             fmt::format("from {} ms on: {}", figure_ms(tail.figure, tail.above),
                         counted(tail.count, value_word(tail.figure))),
             {.muted = true});
    const double room = kPlotWidth - 2 * kPlotMargin - kTailNames;
    const double longest = std::max(sum_of(tail, &TailPart::tail), sum_of(tail, &TailPart::median));
    draw_tail_bar(tail, &TailPart::median, parts, room / longest, y + 26, svg);
    draw_tail_bar(tail, &TailPart::tail, parts, room / longest, y + 26 + kTailBar + 6, svg);
    y += kTailPitch;
  }
  draw_part_legend(parts, y + 14, svg);
  return Plot{kRequestTailsFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
