#include "readers/nsys_sqlite/row_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace llmprof::readers {

int64_t RowValues::leading_integer(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc::result_out_of_range) return value;
  return text.starts_with('-') ? std::numeric_limits<int64_t>::min()
                               : std::numeric_limits<int64_t>::max();
}

void RowValues::set_real(size_t column, double value) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) {
    set_null(column);
  } else if (value >= kBeyond) {
    set_integer(column, std::numeric_limits<int64_t>::max());
  } else if (value <= -kBeyond) {
    set_integer(column, std::numeric_limits<int64_t>::min());
  } else {
    set_integer(column, static_cast<int64_t>(value));
  }
}

}  // namespace llmprof::readers
