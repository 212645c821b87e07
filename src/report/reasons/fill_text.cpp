#include "report/reasons/fill_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

using profile::FindingValue;

class Filling {
 public:
  explicit Filling(const std::vector<FindingValue>& values) : values_(values) {}

  [[nodiscard]] std::string filled(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const size_t next = text.find_first_of("{[");
      out += text.substr(0, next);
      if (next == std::string_view::npos) break;
      const size_t end = text[next] == '{' ? text.find('}', next) : closing(text, next);
      const std::string_view inside = text.substr(next + 1, end - next - 1);
      if (text[next] == '{') {
        const size_t colon = std::min(inside.find(':'), inside.size());
        out += shown(inside.substr(0, colon), inside.substr(std::min(colon + 1, inside.size())));
      } else {
        const size_t mark = inside.find('?');
        if (holds(inside.substr(0, mark))) out += filled(inside.substr(mark + 1));
      }
      text.remove_prefix(end + 1);
    }
    return out;
  }

 private:
  static size_t closing(std::string_view text, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
      if (text[i] == '[') ++depth;
      if (text[i] == ']' && --depth == 0) return i;
    }
    return text.size();
  }

  [[nodiscard]] double number(std::string_view name) const {
    const FindingValue* found = profile::find_value(values_, name);
    return found == nullptr ? 0 : found->value.value_or(0);
  }
  [[nodiscard]] uint64_t count(std::string_view name) const {
    return static_cast<uint64_t>(number(name));
  }
  // The value itself, or what a number comes from.
  [[nodiscard]] std::string text(std::string_view name) const {
    const FindingValue* found = profile::find_value(values_, name);
    return found == nullptr ? std::string() : found->text.value_or("");
  }

  [[nodiscard]] bool holds(std::string_view condition) const {
    if (condition.starts_with('!')) return !holds(condition.substr(1));
    if (const size_t bar = condition.find('|'); bar != std::string_view::npos) {
      return holds(condition.substr(0, bar)) || holds(condition.substr(bar + 1));
    }
    if (condition.starts_with('@')) return !text(condition.substr(1)).empty();
    const size_t sign = condition.find_first_of("=>");
    const std::string_view name = condition.substr(0, sign);
    const FindingValue* found = profile::find_value(values_, name);
    if (sign == std::string_view::npos) return found != nullptr && found->text != "no";
    const std::string wanted(condition.substr(sign + 1));
    if (condition[sign] == '>') return number(name) > std::stod(wanted);
    return found != nullptr && found->value ? *found->value == std::stod(wanted)
                                            : text(name) == wanted;
  }

  [[nodiscard]] std::string shown(std::string_view name, std::string_view how) const {
    constexpr double kPercent = 100;
    const FindingValue* found = profile::find_value(values_, name);
    const double value = number(name);
    if (how.empty())
      return found != nullptr && found->value ? fmt::to_string(count(name)) : text(name);
    if (how == "source") return text(name);
    if (how == "()") return fmt::format("{} ({})", count(name), text(name));
    if (how == "were") return std::string(were(count(name)));
    if (how == "plain") return text_of(plain(value));
    if (how == "ms") return text_of(ms(profile::Milliseconds{value}));
    if (how == "fine_ms") return text_of(fine_ms(profile::Milliseconds{value}));
    if (how == "clock") return text_of(clock(profile::Hertz{value}));
    if (how == "percent") return text_of(percent(profile::Share{value}));
    if (how == "scaled") return scaled_text(found);
    if (how == "0%") return fmt::format("{:.0f} %", value * kPercent);
    if (how == "g%") return fmt::format("{:g} %", value * kPercent);
    if (how == "us") return fmt::format("{:.1f} us", microseconds(value));
    if (how.starts_with('#')) return counted_plainly(name, how.substr(1));
    if (how.starts_with("mean ")) {
      if (value == std::floor(value)) return counted_plainly(name, how.substr(5));
      return fmt::format("{:.1f} {}s on average", value, how.substr(5));
    }
    const bool tera = how.starts_with('T');
    return fmt::format(fmt::runtime(fmt::format("{{:{}}}", how.substr(tera ? 1 : 0))),
                       tera ? value / kTera : value);
  }

  [[nodiscard]] std::string counted_plainly(std::string_view name, std::string_view one) const {
    return fmt::format("{} {}", count(name), plural_of(count(name), one));
  }

  static std::string scaled_text(const FindingValue* found) {
    const double value = found == nullptr ? 0 : found->value.value_or(0);
    const std::string unit = found == nullptr ? "" : found->unit.value_or("");
    if (unit == symbol(profile::Unit::flops)) return text_of(scaled(profile::Flops{value}));
    if (unit == symbol(profile::Unit::bytes)) return text_of(scaled(profile::Bytes{value}));
    if (unit == symbol(profile::Unit::flops_per_second)) {
      return text_of(scaled(profile::FlopsPerSecond{value}));
    }
    return text_of(scaled(profile::BytesPerSecond{value}));
  }

  // Of whole nanoseconds.
  static double microseconds(double milliseconds) {
    return std::round(milliseconds * kNanosecondsPerMillisecond) / kNanosecondsPerMicrosecond;
  }

  const std::vector<FindingValue>& values_;
};

}  // namespace

std::string fill_text(std::string_view text, const std::vector<FindingValue>& values) {
  return Filling(values).filled(text);
}

}  // namespace llmprof::report
