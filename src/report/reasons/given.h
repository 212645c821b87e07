#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/reasons.h"

namespace llmprof::report {

// A reason's values as words are made of them. A missing number is 0, a missing text empty.
class Given {
 public:
  explicit Given(const profile::Reason& reason) : values_(reason.values) {}

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] uint64_t count(std::string_view name) const;  // of a whole number
  [[nodiscard]] std::string text(std::string_view name) const;
  // Where a number comes from: "--prompt-tokens".
  [[nodiscard]] std::string source(std::string_view name) const;
  // "777 prompt tokens", "1 step": digits as the program that said so would write them.
  [[nodiscard]] std::string counted(std::string_view name, std::string_view one) const;
  // "64 (--batch)".
  [[nodiscard]] std::string with_source(std::string_view name) const;
  template <class Quantity>
  [[nodiscard]] Quantity quantity(std::string_view name) const {
    return profile::find_quantity<Quantity::kUnit>(values_, name).value_or(Quantity{});
  }
  // 1.5 is "150 %": of what is far beyond its limit, no more digits are worth telling.
  [[nodiscard]] std::string whole_percent(std::string_view name) const;

 private:
  const std::vector<profile::FindingValue>& values_;
};

}  // namespace llmprof::report
