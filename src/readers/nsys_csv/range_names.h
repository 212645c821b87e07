#pragma once

#include <string_view>

namespace llmprof::readers::nsys_csv {

struct RangeName {
  std::string_view domain;  // empty: the default domain
  std::string_view text;
};

// nsys writes a range as "domain:text"; since 2022 the default domain is ":text", before it was the
// plain text, which may hold colons of its own ("aten::mm", "step: 5").
class RangeNames {
 public:
  // Shows a name of a report, so that its way of writing becomes known.
  void see(std::string_view name) { colon_always_ = colon_always_ || name.starts_with(':'); }
  [[nodiscard]] RangeName split(std::string_view name) const;

 private:
  bool colon_always_ = false;
};

}  // namespace llmprof::readers::nsys_csv
