#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr double kBudgetBar = 34;
constexpr double kBudgetRow = 74;  // one stage: its name, its bar
constexpr double kBudgetLegendRow = 22;
constexpr size_t kMostBars = 6;
constexpr size_t kMostBarsWithTimes = 3;  // in addition to their shares
constexpr size_t kNamedParts = 3;

// The parts of a bar: work first, then idle time, each in the same order in all bars.
struct PartOrder {
  TimePart name{};
  bool idle = false;
  double total = 0;  // ms over all shown stages
};

std::vector<const Stage*> stages_with_budget(const Profile& profile) {
  std::vector<const Stage*> stages;
  for (const Stage& stage : profile.stages) {
    const auto& budget = stage.shown.budget;
    if (budget && !budget->empty() && stage.shown.wall.mean) stages.push_back(&stage);
  }
  return stages;
}

std::vector<PartOrder> parts_of(const std::vector<const Stage*>& stages) {
  std::map<std::string_view, PartOrder> known;
  for (const Stage* stage : stages) {
    for (const BudgetPart& part : *stage->shown.budget) {
      PartOrder& order = known[to_string(part.part)];
      order.name = part.part;
      order.idle = part.idle;
      order.total += part.time.value;
    }
  }
  std::vector<PartOrder> parts;
  parts.reserve(known.size());
  for (const auto& [name, order] : known) parts.push_back(order);
  std::stable_sort(parts.begin(), parts.end(), [](const PartOrder& a, const PartOrder& b) {
    return a.idle != b.idle ? b.idle : a.total > b.total;
  });
  return parts;
}

const BudgetPart* find_part(const Stage& stage, TimePart name) {
  const auto found = std::ranges::find(*stage.shown.budget, name, &BudgetPart::part);
  return found == stage.shown.budget->end() ? nullptr : &*found;
}

std::string budget_words(const Profile& profile, const std::vector<const Stage*>& stages) {
  std::string words = "Time budget.";
  for (const Stage* stage : stages) {
    std::vector<BudgetPart> parts = *stage->shown.budget;
    std::ranges::stable_sort(parts, std::ranges::greater(), &BudgetPart::share);
    parts.resize(std::min(kNamedParts, parts.size()));
    words +=
        fmt::format(" {}: {} ms per {}: {}.", stage->name, ms(stage->shown.wall.mean),
                    instance_name(profile, "instance"), joined(parts, ", ", [](auto& part) {
                      return fmt::format("{} {}", look_of(part.part).shown, percent(part.share));
                    }));
  }
  return words;
}

void draw_bar(const Profile& profile, const Stage& stage, const std::vector<PartOrder>& parts,
              double y, Svg& svg) {
  svg.text(kPlotMargin, y + 14, stage.name, {.size = 15, .bold = true});
  svg.text(
      kPlotMargin + text_width(stage.name, 15) + 14, y + 14,
      fmt::format("{} ms per {}", ms(stage.shown.wall.mean), instance_name(profile, "instance")),
      {.muted = true});
  const double whole = kPlotWidth - 2 * kPlotMargin;
  double x = kPlotMargin;
  for (const PartOrder& order : parts) {
    const BudgetPart* part = find_part(stage, order.name);
    if (part == nullptr) continue;
    const double width = part->share.value * whole;
    const Color fill = look_of(order.name).color;
    const std::string_view name = look_of(order.name).shown;
    svg.bar(x, y + 24, width, kBudgetBar, fill,
            fmt::format("{}: {} of wall time, {} ms", name, percent(part->share), ms(part->time)));
    const std::string share = text_of(percent(part->share));
    const std::string both = fmt::format("{} {}", name, share);
    constexpr double kInside = 8;
    const std::string& label = text_width(both, 12) + kInside <= width ? both : share;
    if (text_width(label, 12) + kInside <= width) {
      svg.text(x + width / 2, y + 24 + kBudgetBar / 2 + 4.5, label,
               {.size = 12, .anchor = Svg::Anchor::middle, .color = text_on(fill)});
    }
    x += width;
  }
}

void draw_legend(const std::vector<const Stage*>& stages, const std::vector<PartOrder>& parts,
                 double y, Svg& svg) {
  const double right = kPlotWidth - kPlotMargin;
  const bool times = stages.size() <= kMostBarsWithTimes;
  const double column = times ? 190 : 92;
  const auto edge = [&](size_t i) {
    return right - column * static_cast<double>(stages.size() - 1 - i);
  };
  for (size_t i = 0; i < stages.size(); ++i) {
    svg.text(edge(i), y, fitted(stages[i]->name, column - 10, 13),
             {.anchor = Svg::Anchor::end, .bold = true});
  }
  svg.line(kPlotMargin, y + 7, right, y + 7, Svg::Stroke::axis);
  for (const PartOrder& order : parts) {
    y += kBudgetLegendRow;
    svg.bar(kPlotMargin, y - 8, 12, 12, look_of(order.name).color);
    svg.text(kPlotMargin + 20, y + 2.5, look_of(order.name).shown);
    for (size_t i = 0; i < stages.size(); ++i) {
      const BudgetPart* part = find_part(*stages[i], order.name);
      if (part == nullptr) continue;
      svg.text(edge(i), y + 2.5, text_of(percent(part->share)), {.anchor = Svg::Anchor::end});
      if (!times) continue;
      svg.text(edge(i) - 68, y + 2.5, fmt::format("{} ms", ms(part->time)),
               {.size = 12, .anchor = Svg::Anchor::end, .muted = true});
    }
  }
}

}  // namespace

std::optional<Plot> budget_plot(const Profile& profile) {
  std::vector<const Stage*> stages = stages_with_budget(profile);
  if (stages.empty()) return std::nullopt;
  const size_t all = stages.size();
  if (stages.size() > kMostBars) stages.resize(kMostBars);
  const std::vector<PartOrder> parts = parts_of(stages);
  const std::string description = budget_words(profile, stages);
  const double bars = kBudgetRow * static_cast<double>(stages.size());
  const double legend = kBudgetLegendRow * static_cast<double>(parts.size() + 1);
  Svg svg(kPlotHead + bars + legend + 40, "Time budget of each stage", description);
  svg.head("Time budget",
           {fmt::format(
               "share of each stage's wall time, warm-up excluded; idle time in gray{}",
               all > stages.size() ? fmt::format("; {} of {} stages", stages.size(), all) : "")});
  double y = kPlotHead + 6;
  for (const Stage* stage : stages) {
    draw_bar(profile, *stage, parts, y, svg);
    y += kBudgetRow;
  }
  draw_legend(stages, parts, y + 16, svg);
  return Plot{kBudgetFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
