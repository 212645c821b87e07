#pragma once

#include <string>
#include <vector>

namespace llmprof::report {

// Where values of one axis go on the picture, in pixels.
struct Axis {
  double low = 0;   // value at `from`
  double high = 1;  // value at `to`
  double from = 0;
  double to = 1;
  bool logarithmic = false;

  [[nodiscard]] double place(double value) const;
};

// Values to mark: 1, 2 or 5 times a power of ten; of a logarithmic axis powers of ten alone, or 1,
// 2 and 5 times them where it spans less than two of them.
std::vector<double> marks_of(const Axis& axis, size_t about);

// "0.5", "12", "1,500": as many digits as marks this far apart need.
std::string mark_text(double value);
// "500 G", "2 T".
std::string prefixed_mark(double value);

}  // namespace llmprof::report
