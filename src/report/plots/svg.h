#pragma once

#include <map>
#include <string>
#include <string_view>

#include "report/format/part_names.h"

namespace llmprof::report {

// A picture that is being drawn, in pixels. Everything has a class of the picture's own style
// sheet, so that it follows the reader's choice of a light or a dark background. Texts are escaped.
class Svg {
 public:
  // `title` and `description` are what a screen reader says.
  Svg(double width, double height, std::string_view title, std::string_view description);

  enum class Anchor { start, middle, end };
  struct TextLook {
    double size = 13;
    Anchor anchor = Anchor::start;
    bool muted = false;
    bool bold = false;
    bool code = false;
    Color color = {};  // instead of the text's own; empty where not set
  };
  void text(double x, double y, std::string_view text, const TextLook& look);
  void text(double x, double y, std::string_view words) { text(x, y, words, TextLook()); }

  // `tip` is shown where the pointer rests; empty: none.
  void bar(double x, double y, double width, double height, const Color& fill,
           std::string_view tip = "");
  void dot(double x, double y, double radius, const Color& fill, std::string_view tip = "");
  void diamond(double x, double y, double radius, const Color& fill, std::string_view tip = "");
  void triangle(double x, double y, double radius, const Color& fill, std::string_view tip = "");

  enum class Stroke { grid, axis, strong, dashed };
  void line(double x1, double y1, double x2, double y2, Stroke stroke);
  void line(double x1, double y1, double x2, double y2, const Color& color, bool dashed);

  [[nodiscard]] std::string finish() &&;

 private:
  std::string color_class(const Color& color);
  void shape(std::string_view markup, std::string_view tip);

  double width_;
  double height_;
  std::string head_;
  std::string body_;
  std::map<std::pair<std::string, std::string>, std::string> classes_;  // by light and dark color
};

// About how wide a text is, in pixels; rather too much than too little.
double text_width(std::string_view text, double size, bool code = false);
// Shortened in the middle to what fits.
std::string fitted(std::string_view text, double width, double size, bool code = false);

// Black or white, whichever can be read on these backgrounds.
Color text_on(const Color& fill);

}  // namespace llmprof::report
