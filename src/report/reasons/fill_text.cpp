#include "report/reasons/fill_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

constexpr std::pair<std::string_view, Figure::Of> kFigures[] = {
    {"plain", Figure::Of::count},
    {"ms", Figure::Of::stage_time},
    {"fine_ms", Figure::Of::token_time},
    {"exact_ms", Figure::Of::kernel_time},
    {"clock", Figure::Of::clock},
    {"percent", Figure::Of::share},
    {"ratio", Figure::Of::ratio},
    {"power", Figure::Of::power},
    {"temperature", Figure::Of::temperature},
};

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
      const auto [head, rest] = split(inside, text[next] == '{' ? ':' : '?');
      if (text[next] == '{') {
        out += shown(head, rest);
      } else if (head.starts_with('*')) {
        out += repeated(head.substr(1), rest);
      } else if (holds(head)) {
        out += filled(rest);
      }
      text.remove_prefix(end + 1);
    }
    return out;
  }

 private:
  static std::pair<std::string_view, std::string_view> split(std::string_view text, char at) {
    const size_t place = std::min(text.find(at), text.size());
    return {text.substr(0, place), text.substr(std::min(place + 1, text.size()))};
  }

  static size_t closing(std::string_view text, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
      if (text[i] == '[') ++depth;
      if (text[i] == ']' && --depth == 0) return i;
    }
    return text.size();
  }

  [[nodiscard]] std::string repeated(std::string_view each, std::string_view text) const {
    const auto [name, between] = split(each, '/');
    std::string out;
    for (const FindingValue& value : values_) {
      if (value.name != name) continue;
      std::vector<FindingValue> own = {{"first", {}, {}, out.empty() ? "yes" : "no"}, value};
      std::ranges::copy_if(values_, std::back_inserter(own),
                           [&](const FindingValue& other) { return other.text == value.text; });
      if (!out.empty()) out += between;
      out += Filling(own).filled(text);
    }
    return out;
  }

  [[nodiscard]] bool holds(std::string_view condition) const {
    if (condition.starts_with('!')) return !holds(condition.substr(1));
    if (const size_t bar = condition.find('|'); bar != std::string_view::npos) {
      return holds(condition.substr(0, bar)) || holds(condition.substr(bar + 1));
    }
    const bool of_source = condition.starts_with('@');
    if (of_source) condition.remove_prefix(1);
    const size_t sign = condition.find_first_of("=>");
    const FindingValue* found = profile::find_value(values_, condition.substr(0, sign));
    if (found == nullptr) return false;
    const std::string text = found->text.value_or("");
    if (sign == std::string_view::npos) return of_source ? !text.empty() : text != "no";
    const std::string wanted(condition.substr(sign + 1));
    if (condition[sign] == '>') return found->value.value_or(0) > std::stod(wanted);
    return found->value && !of_source ? *found->value == std::stod(wanted) : text == wanted;
  }

  [[nodiscard]] std::string shown(std::string_view name, std::string_view how) const {
    const FindingValue* found = profile::find_value(values_, name);
    const FindingValue own =
        found == nullptr ? FindingValue{"", {}, {}, std::string(kMissing)} : *found;
    const double number = own.value.value_or(0);
    const auto count = static_cast<uint64_t>(number);
    // The value itself, or the source of a number.
    std::string text = own.text.value_or("");
    const auto counted_plainly = [&](std::string_view one) {
      return fmt::format("{} {}", count, plural_of(count, one));
    };
    if (how.empty()) return own.value ? fmt::to_string(count) : text;
    if (how == "source") return text;
    if (how == "shown") return std::string(shown_text(text));
    if (how == "()") return fmt::format("{} ({})", count, text);
    if (how == "were") return std::string(were(count));
    for (const auto& [figure, of] : kFigures) {
      if (how == figure) return text_of(Figure{of, own.value, {}});
    }
    if (how == "scaled") return scaled_text(own);
    if (how == "all%") return almost_all(number);
    if (how == "0%") return fmt::format("{:.0f} %", number * kPercent);
    if (how == "g%") return fmt::format("{:g} %", number * kPercent);
    if (how == "us") return fmt::format("{:.1f} us", microseconds(number));
    if (how.starts_with('#')) return counted_plainly(how.substr(1));
    if (how.starts_with('~')) {
      return fmt::format("{} {}", plain(number), plural_of(number == 1 ? 1 : 2, how.substr(1)));
    }
    if (how.starts_with("mean ")) {
      if (number == std::floor(number)) return counted_plainly(how.substr(5));
      return fmt::format("{:.1f} {}s on average", number, how.substr(5));
    }
    const bool tera = how.starts_with('T');
    return fmt::format(fmt::runtime(fmt::format("{{:{}}}", how.substr(tera ? 1 : 0))),
                       tera ? number / kTera : number);
  }

  // With a suitable prefix, in the value's own unit.
  static std::string scaled_text(const FindingValue& value) {
    using enum Unit;
    for (const auto unit : {flops, bytes, flops_per_second, bytes_per_second}) {
      if (value.unit == symbol(unit)) return text_of(Figure{of_unit(unit), value.value, {}});
    }
    return std::string(kMissing);
  }

  static std::string almost_all(double share) {
    constexpr double kAlmostAll = 0.999;
    return share == 1 ? "all" : text_of(Figure{Figure::Of::share, std::min(share, kAlmostAll), {}});
  }

  // Rounded to whole nanoseconds.
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
