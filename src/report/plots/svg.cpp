#include "report/plots/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "report/format/figures.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

constexpr Color kInk = {"#1f2328", "#e6edf3"};
constexpr Color kMutedInk = {"#57606a", "#9da7b3"};
constexpr Color kGrid = {"#dde3ea", "#2d333b"};
constexpr Color kAxis = {"#8c959f", "#6e7681"};

// A hundredth of a pixel is finer than anyone can see.
std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

double relative_luminance(std::string_view color) {
  const auto channel = [&](size_t at) {
    const auto value =
        static_cast<double>(std::strtol(std::string(color.substr(at, 2)).c_str(), nullptr, 16)) /
        255;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

// By the contrast that WCAG defines.
std::string_view readable_on(std::string_view fill) {
  const double luminance = relative_luminance(fill);
  const double with_white = 1.05 / (luminance + 0.05);
  const double with_black = (luminance + 0.05) / 0.05;
  return with_white >= with_black ? "#ffffff" : "#000000";
}

constexpr std::array<double, 3> kNiceSteps = {1, 2, 5};

std::vector<double> decades_of(const Axis& axis) {
  const bool few = axis.high / axis.low < 100;
  std::vector<double> marks;
  for (double decade = std::pow(10, std::floor(std::log10(axis.low)));
       decade <= axis.high && std::isfinite(decade); decade *= 10) {
    for (const double step : kNiceSteps) {
      const double mark = decade * step;
      if (mark >= axis.low && mark <= axis.high && (few || step == 1)) marks.push_back(mark);
    }
  }
  return marks;
}

}  // namespace

Svg::Svg(double height, std::string_view title, std::string_view description) : height_(height) {
  head_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{2}</title>\n<desc "
      "id=\"desc\">{3}</desc>\n",
      px(kPlotWidth), px(height), xml_text(title), xml_text(description));
}

void Svg::head(std::string_view title, const std::vector<std::string>& lines) {
  text(kPlotMargin, 32, title, {.size = 18, .bold = true});
  double y = 52;
  for (const std::string& line : lines) {
    text(kPlotMargin, y, line, {.muted = true});
    y += 18;
  }
}

std::string Svg::color_class(const Color& color) {
  const auto key = std::make_pair(std::string(color.light), std::string(color.dark));
  return classes_.try_emplace(key, fmt::format("c{}", classes_.size())).first->second;
}

void Svg::text(double x, double y, std::string_view text, const TextLook& look) {
  const Color color = !look.color.light.empty() ? look.color : look.muted ? kMutedInk : kInk;
  std::string classes = color_class(color);
  if (look.code) classes += " code";
  if (look.bold) classes += " bold";
  if (look.anchor == Anchor::middle) classes += " middle";
  if (look.anchor == Anchor::end) classes += " end";
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\" font-size=\"{}\">{}</text>\n", px(x),
                       px(y), classes, px(look.size), xml_text(text));
}

void Svg::shape(std::string_view markup, std::string_view tip) {
  const size_t space = markup.find(' ');
  if (tip.empty()) {
    body_ += fmt::format("<{}/>\n", markup);
  } else {
    body_ +=
        fmt::format("<{}><title>{}</title></{}>\n", markup, xml_text(tip), markup.substr(0, space));
  }
}

void Svg::bar(double x, double y, double width, double height, const Color& fill,
              std::string_view tip) {
  shape(fmt::format("rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"", px(x), px(y),
                    px(width), px(height), color_class(fill)),
        tip);
}

void Svg::dot(double x, double y, double radius, const Color& fill, std::string_view tip) {
  shape(fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"", px(x), px(y), px(radius),
                    color_class(fill)),
        tip);
}

void Svg::diamond(double x, double y, double radius, const Color& fill, std::string_view tip) {
  shape(fmt::format("path d=\"M{0} {2}L{3} {1}L{0} {4}L{5} {1}Z\" class=\"{6}\"", px(x), px(y),
                    px(y - radius), px(x + radius), px(y + radius), px(x - radius),
                    color_class(fill)),
        tip);
}

void Svg::triangle(double x, double y, double radius, const Color& fill, std::string_view tip) {
  shape(fmt::format("path d=\"M{} {}L{} {}L{} {}Z\" class=\"{}\"", px(x), px(y - radius),
                    px(x + radius), px(y + radius), px(x - radius), px(y + radius),
                    color_class(fill)),
        tip);
}

void Svg::line(double x1, double y1, double x2, double y2, Stroke stroke) {
  body_ += fmt::format("<path d=\"M{} {}L{} {}\" class=\"{} line{}\"/>\n", px(x1), px(y1), px(x2),
                       px(y2), color_class(stroke == Stroke::grid ? kGrid : kAxis),
                       stroke == Stroke::dashed ? " dashed" : "");
}

void Svg::line(double x1, double y1, double x2, double y2, const Color& color, bool dashed) {
  body_ += fmt::format("<path d=\"M{} {}L{} {}\" class=\"{} line strong{}\"/>\n", px(x1), px(y1),
                       px(x2), px(y2), color_class(color), dashed ? " dashed" : "");
}

void Svg::rule(double left, double y, double right, std::string_view mark) {
  line(left, y, right, y, Stroke::grid);
  text(left - 8, y + 4, mark, {.size = 12, .anchor = Anchor::end, .muted = true});
}

std::string Svg::finish() && {
  std::string light;
  std::string dark;
  for (const auto& [color, name] : classes_) {
    light += fmt::format(".{0}{{fill:{1};stroke:{1}}}\n", name, color.first);
    dark += fmt::format(".{0}{{fill:{1};stroke:{1}}}\n", name, color.second);
  }
  return fmt::format(
      "{}<style>\ntext{{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto "
      "Sans',Helvetica,Arial,sans-serif;stroke:none!important}}\nrect,circle{{stroke:none!"
      "important}}\n.code{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "
      "Mono',monospace}}\n.bold{{font-weight:600}}\n.middle{{text-anchor:middle}}\n"
      ".end{{text-anchor:end}}\n.line{{fill:none!important;stroke-width:1}}\n"
      ".strong{{stroke-width:1.6}}\n.dashed{{stroke-dasharray:5 4}}\n"
      ".paper{{fill:{}}}\n{}@media (prefers-color-scheme:dark){{\n.paper{{fill:{}}}\n{}}}\n"
      "</style>\n<rect width=\"{}\" height=\"{}\" class=\"paper\"/>\n{}</svg>\n",
      head_, kBackground.light, light, kBackground.dark, dark, px(kPlotWidth), px(height_), body_);
}

double text_width(std::string_view text, double size, bool code) {
  constexpr double kCode = 0.61;
  constexpr double kNarrow = 0.36;
  constexpr double kUsual = 0.62;
  constexpr double kWide = 0.78;
  double widths = 0;
  for (const char c : text) {
    if (!starts_character(c)) continue;
    if (code) {
      widths += kCode;
    } else if (std::string_view(" .,:;!'|()[]ijlt/").find(c) != std::string_view::npos) {
      widths += kNarrow;
    } else if ((c >= 'A' && c <= 'Z') || c == 'm' || c == 'w' || c == '%' || c == '@') {
      widths += kWide;
    } else {
      widths += kUsual;
    }
  }
  return widths * size;
}

std::string fitted(std::string_view text, double width, double size, bool code) {
  std::string clean = to_printable(text);
  if (text_width(clean, size, code) <= width) return clean;
  std::string cut = clean;
  for (size_t limit = clean.size(); limit > 1 && text_width(cut, size, code) > width; --limit) {
    cut = shortened(clean, limit);
  }
  return cut;
}

Color text_on(const Color& fill) { return {readable_on(fill.light), readable_on(fill.dark)}; }

double Axis::place(double value) const {
  const double share =
      logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> marks_of(const Axis& axis, size_t about) {
  // Numbers in a profile are untrusted: above this ratio of value to span, rounding swallows steps.
  constexpr double kSteps = 1e12;
  const double span = axis.high - axis.low;
  if (!std::isfinite(span) || !(span * kSteps > std::abs(axis.high))) return {};
  if (axis.logarithmic && !(axis.low > 0)) return {};
  if (axis.logarithmic) return decades_of(axis);
  const double rough = (axis.high - axis.low) / static_cast<double>(std::max<size_t>(about, 1));
  if (!(rough > 0)) return {};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double nice : {5.0, 2.0, 1.0}) {
    if (nice * decade >= rough) step = nice * decade;
  }
  std::vector<double> marks;
  constexpr double kRounding = 1e-9;
  for (double count = std::ceil(axis.low / step - kRounding);
       count * step <= axis.high * (1 + kRounding); ++count) {
    marks.push_back(count == 0 ? 0 : count * step);  // not -0
  }
  return marks;
}

std::string mark_text(double value) {
  constexpr double kGrouped = 1000;
  constexpr double kScientific = 1e15;
  if (value >= kGrouped && value < kScientific && value == std::floor(value)) {
    return text_of(grouped(static_cast<uint64_t>(value)));
  }
  return fmt::format("{:.6g}", value);
}

std::string prefixed_mark(double value) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return fmt::format("{:.6g} {}", value, kPrefixes[prefix]);
}

}  // namespace llmprof::report
