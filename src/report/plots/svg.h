#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/format/words.h"

namespace llmprof::report {

inline constexpr double kPlotWidth = 880;
inline constexpr double kPlotMargin = 24;
inline constexpr double kPlotHead = 68;  // title and a line below it

// A picture that is being drawn, in pixels, kPlotWidth wide. Every element has a class in the
// picture's own style sheet, so that it follows the reader's choice of a light or a dark
// background. Texts are escaped.
class Svg {
 public:
  // `title` and `description` are for screen readers.
  Svg(double height, std::string_view title, std::string_view description);

  // The visible title, and the lines below it.
  void head(std::string_view title, const std::vector<std::string>& lines);

  enum class Anchor { start, middle, end };
  struct TextLook {
    double size = 13;
    Anchor anchor = Anchor::start;
    bool muted = false;
    bool bold = false;
    bool code = false;
    Color color = {};  // instead of the text's own; empty if not set
  };
  void text(double x, double y, std::string_view text, const TextLook& look);
  void text(double x, double y, std::string_view words) { text(x, y, words, TextLook()); }

  // `tip` is shown on hover; none if empty.
  void bar(double x, double y, double width, double height, const Color& fill,
           std::string_view tip = "");
  void dot(double x, double y, double radius, const Color& fill, std::string_view tip = "");
  void diamond(double x, double y, double radius, const Color& fill, std::string_view tip = "");
  void triangle(double x, double y, double radius, const Color& fill, std::string_view tip = "");

  enum class Stroke { grid, axis, dashed };
  void line(double x1, double y1, double x2, double y2, Stroke stroke);
  void line(double x1, double y1, double x2, double y2, const Color& color, bool dashed);

  // A line of the grid at a mark of the vertical axis, which is at `left`.
  void rule(double left, double y, double right, std::string_view mark);

  [[nodiscard]] std::string finish() &&;

 private:
  std::string color_class(const Color& color);
  void shape(std::string_view markup, std::string_view tip);

  double height_;
  std::string head_;
  std::string body_;
  std::map<std::pair<std::string, std::string>, std::string> classes_;  // by light and dark color
};

// Approximate width of a text in pixels, rather too large than too small.
double text_width(std::string_view text, double size, bool code = false);
// Shortened in the middle to fit.
std::string fitted(std::string_view text, double width, double size, bool code = false);

// Maps the values of one axis to pixels.
struct Axis {
  double low = 0;   // value at `from`
  double high = 1;  // value at `to`
  double from = 0;
  double to = 1;
  bool logarithmic = false;

  [[nodiscard]] double place(double value) const;
};

// Values to mark: 1, 2 or 5 times a power of ten. A logarithmic axis marks only powers of ten, or
// 1, 2 and 5 times them if it spans less than two.
std::vector<double> marks_of(const Axis& axis, size_t about);

// "0.5", "12", "1,500": with as many digits as the value needs.
std::string mark_text(double value);
// "500 G", "2 T".
std::string prefixed_mark(double value);

// Black or white, whichever is readable on these backgrounds.
Color text_on(const Color& fill);

}  // namespace llmprof::report
