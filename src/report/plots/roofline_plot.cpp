#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "report/format/figures.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr double kRoofLeft = 84;
constexpr double kRoofRight = 856;
constexpr double kRoofTop = 116;
constexpr double kRoofBottom = 516;
constexpr double kRoofLegendRow = 22;
constexpr size_t kMostPoints = 12;  // kernels that are numbered and named
constexpr Color kRoofLine = {"#57606a", "#9da7b3"};

// Peaks that bound work: a horizontal roof for each compute peak, one slope for the memory.
struct Roofs {
  double bandwidth = 0;  // bytes per second
  struct Compute {
    double flops = 0;  // per second
    std::string name;
  };
  std::vector<Compute> compute;
};

struct RoofPoint {
  enum class Of { stage, kernel, sampled_kernel };  // sampled by the GPU's counters
  double intensity = 0;                             // FLOP per byte
  double flops = 0;                                 // per second
  std::string name;
  Color color;
  Of of = Of::kernel;

  // Points without FLOPs, or beyond any hardware, have no place on logarithmic axes.
  [[nodiscard]] bool has_place() const {
    const auto is_possible = [](double value) { return value > 1e-30 && value < 1e30; };
    return is_possible(intensity) && is_possible(flops);
  }
};
using RoofPoints = std::vector<RoofPoint>;

size_t count(const RoofPoints& points, RoofPoint::Of of) {
  return static_cast<size_t>(std::ranges::count(points, of, &RoofPoint::of));
}

void add_compute(Roofs& roofs, double flops, std::string name) {
  const auto known = std::ranges::find(roofs.compute, flops, &Roofs::Compute::flops);
  if (flops > 0 && known == roofs.compute.end()) roofs.compute.push_back({flops, std::move(name)});
}

Roofs roofs_of(const Profile& profile) {
  Roofs roofs;
  for (const Stage& stage : profile.stages) {
    if (stage.peak_bandwidth) roofs.bandwidth = stage.peak_bandwidth->value;
    if (stage.peak_flops) {
      add_compute(roofs, stage.peak_flops->value, stage.peak_name.value_or("compute peak"));
    }
  }
  if (const auto& gpu = profile.utilization.gpu) {
    if (roofs.bandwidth <= 0) roofs.bandwidth = gpu->memory_bandwidth.value;
    if (roofs.compute.empty()) add_compute(roofs, gpu->bf16.value, "bf16 dense");
  }
  for (const RooflineKernel& kernel : profile.roofline.kernels) {
    if (kernel.peak_flops && kernel.peak_name) {
      add_compute(roofs, kernel.peak_flops->value, *kernel.peak_name);
    }
  }
  if (const auto& cpu = profile.utilization.cpu) {
    if (roofs.bandwidth <= 0) roofs.bandwidth = cpu->memory_bandwidth.value;
    if (roofs.compute.empty() && cpu->flops) {
      add_compute(roofs, cpu->flops->value, cpu->number_format + ", measured");
    }
  }
  return roofs;
}

// Stages, then kernels.
RoofPoints points_of(const Profile& profile) {
  constexpr Color kStageColor = {"#1f2328", "#e6edf3"};
  RoofPoints points;
  for (const Stage& stage : profile.stages) {
    const auto& rate = stage.shown.flops_per_s;
    if (!stage.shown.bound || !rate || !stage.flops_per_byte) continue;
    points.push_back(
        {stage.flops_per_byte->value, rate->value, stage.name, kStageColor, RoofPoint::Of::stage});
  }
  for (const RooflineKernel& kernel : profile.roofline.kernels) {
    if (!kernel.flops_per_s || !kernel.flops_per_byte) continue;
    const Kernel* ranked = find_kernel(profile, kernel.kernel_name);
    points.push_back(
        {kernel.flops_per_byte->value, kernel.flops_per_s->value, kernel.short_name,
         look_of(ranked == nullptr ? KernelClass::other : ranked->kernel_class).color,
         is_by_counters(kernel) ? RoofPoint::Of::sampled_kernel : RoofPoint::Of::kernel});
  }
  return points;
}

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  [[nodiscard]] bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// Places labels so that they do not overlap each other or the points.
class Labels {
 public:
  void keep_clear(const Box& box) { taken_.push_back(box); }

  // The label's center, as near to the point as possible; none if there is no room.
  std::optional<std::pair<double, double>> place(double x, double y, double width, double height) {
    constexpr int kDirections = 12;
    constexpr double kTurn = 2 * std::numbers::pi / kDirections;
    for (const double distance : {14.0, 22.0, 32.0, 44.0, 58.0}) {
      for (int direction = 0; direction < kDirections; ++direction) {
        const double angle = kTurn * (direction + 1);
        const double at_x = x + (distance + width / 2 - 6) * std::cos(angle);
        const double at_y = y - distance * std::sin(angle);
        const Box box{at_x - width / 2, at_y - height / 2, at_x + width / 2, at_y + height / 2};
        if (box.left < kRoofLeft || box.right > kRoofRight) continue;
        if (box.top < kRoofTop || box.bottom > kRoofBottom) continue;
        if (std::ranges::any_of(taken_, [&](const Box& other) { return other.meets(box); })) {
          continue;
        }
        taken_.push_back(box);
        return std::make_pair(at_x, at_y);
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<Box> taken_;
};

class RooflineDrawing {
 public:
  RooflineDrawing(const Roofs& roofs, const RoofPoints& points, Svg& svg)
      : roofs_(roofs), points_(points), svg_(svg) {}

  void draw() {
    choose_axes();
    draw_grid();
    draw_roofs();
    draw_points();
    draw_names();
  }

 private:
  void choose_axes() {
    const auto [low_x, high_x] = std::ranges::minmax(points_, {}, &RoofPoint::intensity);
    const auto [low_y, high_y] = std::ranges::minmax(points_, {}, &RoofPoint::flops);
    double right = high_x.intensity;
    double top = high_y.flops;
    for (const Roofs::Compute& roof : roofs_.compute) {
      top = std::max(top, roof.flops);
      if (roofs_.bandwidth > 0) right = std::max(right, roof.flops / roofs_.bandwidth);
    }
    constexpr double kRoom = 2.5;
    x_ = {low_x.intensity / kRoom, right * kRoom, kRoofLeft, kRoofRight, true};
    y_ = {low_y.flops / kRoom, top * kRoom, kRoofBottom, kRoofTop, true};
  }

  void draw_grid() {
    for (const double mark : marks_of(x_, 8)) {
      svg_.line(x_.place(mark), kRoofTop, x_.place(mark), kRoofBottom, Svg::Stroke::grid);
      svg_.text(x_.place(mark), kRoofBottom + 18, mark_text(mark),
                {.size = 12, .anchor = Svg::Anchor::middle, .muted = true});
    }
    for (const double mark : marks_of(y_, 8))
      svg_.rule(kRoofLeft, y_.place(mark), kRoofRight, prefixed_mark(mark));
    svg_.line(kRoofLeft, kRoofBottom, kRoofRight, kRoofBottom, Svg::Stroke::axis);
    svg_.line(kRoofLeft, kRoofTop, kRoofLeft, kRoofBottom, Svg::Stroke::axis);
    svg_.text((kRoofLeft + kRoofRight) / 2, kRoofBottom + 40, "arithmetic intensity (FLOP/B)",
              {.anchor = Svg::Anchor::middle, .muted = true});
    svg_.text(kRoofLeft - 60, kRoofTop - 10, "FLOP/s", {.muted = true});
  }

  void label(double x, double y, const std::string& words, Svg::Anchor anchor) {
    constexpr double kSize = 12;
    const double width = text_width(words, kSize);
    const double left = anchor == Svg::Anchor::start ? x : x - width;
    svg_.text(x, y, words, {.size = kSize, .anchor = anchor, .muted = true});
    labels_.keep_clear({left, y - kSize, left + width, y + 4});
  }

  // Left of its line, or right of it if there is no room.
  void label_ridge(double ridge, double y) {
    const std::string words = fmt::format("ridge point {} FLOP/B", in_unit(FlopsPerByte{ridge}));
    const double x = x_.place(ridge);
    const bool fits = x - 6 - text_width(words, 12) > kRoofLeft;
    label(fits ? x - 6 : x + 6, y, words, fits ? Svg::Anchor::end : Svg::Anchor::start);
  }

  void draw_roofs() {
    constexpr double kRidgeLabelRow = 18;
    double highest = 0;
    size_t ridges = 0;
    for (const Roofs::Compute& roof : roofs_.compute) {
      highest = std::max(highest, roof.flops);
      const double ridge = roofs_.bandwidth > 0 ? roof.flops / roofs_.bandwidth : x_.low;
      const double y = y_.place(roof.flops);
      svg_.line(x_.place(std::max(ridge, x_.low)), y, kRoofRight, y, kRoofLine, false);
      label(kRoofRight - 4, y - 7,
            fmt::format("{}: {}", roof.name, in_unit(FlopsPerSecond{roof.flops})),
            Svg::Anchor::end);
      if (roofs_.bandwidth <= 0 || ridge <= x_.low) continue;
      svg_.line(x_.place(ridge), y, x_.place(ridge), kRoofBottom, Svg::Stroke::dashed);
      label_ridge(ridge, kRoofBottom - 8 - kRidgeLabelRow * static_cast<double>(ridges++));
    }
    if (roofs_.bandwidth <= 0) return;
    const double top = highest > 0 ? highest : y_.high;
    const double begin = std::max(x_.low, y_.low / roofs_.bandwidth);
    const double end = std::min(top / roofs_.bandwidth, x_.high);
    if (end <= begin) return;
    const double x1 = x_.place(begin);
    const double y1 = y_.place(begin * roofs_.bandwidth);
    const double x2 = x_.place(end);
    const double y2 = y_.place(end * roofs_.bandwidth);
    svg_.line(x1, y1, x2, y2, kRoofLine, false);
    // Keeps labels off the slope.
    constexpr int kPieces = 40;
    for (int i = 0; i < kPieces; ++i) {
      const double x = x1 + (x2 - x1) * i / kPieces;
      const double y = y1 + (y2 - y1) * i / kPieces;
      labels_.keep_clear({x - 4, y - 4, x + 4, y + 4});
    }
    const std::string words = fmt::format("memory: {}", in_unit(BytesPerSecond{roofs_.bandwidth}));
    const double at_x = x1 + (x2 - x1) * 0.5;
    label(at_x - 12, y1 + (y2 - y1) * 0.5 - 6, words, Svg::Anchor::end);
  }

  void draw_points() {
    for (const RoofPoint& point : points_) {
      const double x = x_.place(point.intensity);
      const double y = y_.place(point.flops);
      labels_.keep_clear({x - 7, y - 7, x + 7, y + 7});
    }
    // Stages are drawn over kernels: they are fewer, and readers look for them.
    for (const bool stages : {false, true}) {
      for (const RoofPoint& point : points_) {
        if ((point.of == RoofPoint::Of::stage) != stages) continue;
        draw_mark(
            point, x_.place(point.intensity), y_.place(point.flops),
            fmt::format("{}: {} FLOP/B, {}{}", point.name, in_unit(FlopsPerByte{point.intensity}),
                        in_unit(FlopsPerSecond{point.flops}),
                        point.of == RoofPoint::Of::sampled_kernel ? ", by counters" : ""));
      }
    }
  }

  void draw_mark(const RoofPoint& point, double x, double y, std::string_view tip) {
    if (point.of == RoofPoint::Of::stage) return svg_.diamond(x, y, 8, point.color, tip);
    if (point.of == RoofPoint::Of::kernel) return svg_.dot(x, y, 5, point.color, tip);
    svg_.triangle(x, y, 5.5, point.color, tip);
  }

  void draw_names() {
    double y = kRoofBottom + 70;
    size_t number = 0;
    for (const RoofPoint& point : points_) {
      const double x = x_.place(point.intensity);
      const double at_y = y_.place(point.flops);
      const bool is_stage = point.of == RoofPoint::Of::stage;
      std::string mark = point.name;
      if (!is_stage) {
        if (number == kMostPoints) continue;
        mark = std::to_string(++number);
      }
      const double width = text_width(mark, 12) + 4;
      if (const auto at = labels_.place(x, at_y, width, 15)) {
        const double reach = std::hypot(at->first - x, at->second - at_y);
        if (reach > 24 + width / 2) svg_.line(x, at_y, at->first, at->second, Svg::Stroke::axis);
        svg_.text(at->first, at->second + 4, mark,
                  {.size = 12, .anchor = Svg::Anchor::middle, .bold = is_stage});
      }
      const double left = 24;
      draw_mark(point, left + 7, y - 4, "");
      if (is_stage) {
        svg_.text(left + 46, y, fmt::format("{} (stage)", point.name), {.bold = true});
      } else {
        svg_.text(left + 38, y, mark, {.anchor = Svg::Anchor::end});
        svg_.text(left + 46, y, fitted(point.name, 520, 12, true), {.size = 12, .code = true});
      }
      svg_.text(kRoofRight - 130, y,
                fmt::format("{} FLOP/B", in_unit(FlopsPerByte{point.intensity})),
                {.size = 12, .anchor = Svg::Anchor::end, .muted = true});
      svg_.text(kRoofRight, y, text_of(in_unit(FlopsPerSecond{point.flops})),
                {.size = 12, .anchor = Svg::Anchor::end});
      y += kRoofLegendRow;
    }
  }

  const Roofs& roofs_;
  const RoofPoints& points_;
  Svg& svg_;
  Axis x_;
  Axis y_;
  Labels labels_;
};

// Uses only numbers from profile.json, like every sentence of a report.
std::string plot_words(const Profile& profile, const Roofs& roofs, const RoofPoints& points) {
  std::string words = "Roofline.";
  for (const Roofs::Compute& roof : roofs.compute) {
    words += fmt::format(" {}: {}.", roof.name, in_unit(FlopsPerSecond{roof.flops}));
  }
  if (roofs.bandwidth > 0) {
    words += fmt::format(" Memory: {}.", in_unit(BytesPerSecond{roofs.bandwidth}));
  }
  for (const Stage& stage : profile.stages) {
    if (!stage.shown.bound || !stage.flops_per_byte || !stage.ridge) continue;
    words += fmt::format(" {}: {} FLOP/B, ridge point {} FLOP/B, MFU {}, MBU {}.", stage.name,
                         in_unit(stage.flops_per_byte), in_unit(stage.ridge),
                         percent(stage.shown.mfu.wall), percent(stage.shown.mbu.wall));
  }
  if (count(points, RoofPoint::Of::kernel) > 0) {
    words += on_cpu(profile) ? " Operators as recorded." : " Kernels as ncu measured them.";
  }
  if (count(points, RoofPoint::Of::sampled_kernel) > 0) {
    words += " Kernels by samples of the GPU's counters.";
  }
  return words;
}

// The sources of the points: a line for stages, one for kernels.
std::vector<std::string> roofline_sources(const Profile& profile, const RoofPoints& points,
                                          size_t left_out) {
  std::vector<std::string> lines;
  const size_t stages = count(points, RoofPoint::Of::stage);
  if (stages > 0) {
    lines.emplace_back(profile.model
                           ? "stages: what the model must compute and move, over wall time"
                           : "stages: what the operators recorded, over wall time");
  }
  const size_t kernels = points.size() - stages;
  const size_t sampled = count(points, RoofPoint::Of::sampled_kernel);
  if (kernels == 0) return lines;
  std::string words =
      on_cpu(profile) ? "operators: as recorded"
      : sampled == 0  ? "kernels: as ncu measured them"
      : sampled == kernels
          ? "kernels (triangles): by samples of the GPU's counters, tensor cores alone"
          : "kernels: dots as ncu measured them, triangles by the GPU's counters";
  if (kernels > kMostPoints) words += fmt::format("; numbered: the {} longest", kMostPoints);
  if (left_out > 0) words += fmt::format("; {} without FLOPs not shown", left_out);
  lines.push_back(std::move(words));
  return lines;
}

}  // namespace

std::optional<Plot> roofline_plot(const Profile& profile) {
  RoofPoints points = points_of(profile);
  const size_t kernels = points.size() - count(points, RoofPoint::Of::stage);
  std::erase_if(points, [](const RoofPoint& point) { return !point.has_place(); });
  if (points.empty()) return std::nullopt;
  const size_t stages = count(points, RoofPoint::Of::stage);
  const size_t drawn = points.size() - stages;
  const Roofs roofs = roofs_of(profile);
  const std::string description = plot_words(profile, roofs, points);
  const size_t named = stages + std::min(drawn, kMostPoints);
  Svg svg(kRoofBottom + 72 + kRoofLegendRow * static_cast<double>(named), "Roofline", description);
  svg.head("Roofline", roofline_sources(profile, points, kernels - drawn));
  RooflineDrawing(roofs, points, svg).draw();
  return Plot{kRooflineFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
