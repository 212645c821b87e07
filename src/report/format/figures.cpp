#include "report/format/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace llmprof::report {
namespace {

enum class Style : uint8_t {
  fixed,    // as many decimals as the table says
  percent,  // the same for a fraction times 100
  whole,    // grouped in threes; a fractional number has the digits of the table
  signed_percent,
  signed_fixed,
  prefixed,  // with the unit and its prefix: k, M, G, T, P
  signed_prefixed,
};

struct Form {
  Figure::Of value;
  Style style;
  int digits;
  double scale;                      // the value is divided by this
  std::string_view unit;             // after the number; empty if the title or the sentence has it
  std::optional<Unit> of_unit = {};  // all numbers of this unit have this form
};

// The digits of all reports. Times are in milliseconds.
constexpr auto kForms = one_per_value<Figure::Of, Form>({
    {Figure::Of::stage_time, Style::fixed, 3, 1, ""},
    {Figure::Of::token_time, Style::fixed, 4, 1, ""},
    {Figure::Of::kernel_time, Style::fixed, 6, 1, ""},
    {Figure::Of::share, Style::percent, 1, 1, "%"},
    {Figure::Of::ratio, Style::fixed, 3, 1, ""},
    {Figure::Of::count, Style::whole, 1, 1, ""},
    {Figure::Of::rate, Style::fixed, 1, 1, "", Unit::tokens_per_second},
    {Figure::Of::request_rate, Style::fixed, 2, 1, ""},
    {Figure::Of::intensity, Style::fixed, 2, 1, "", Unit::flops_per_byte},
    {Figure::Of::bytes, Style::prefixed, 2, 1, "B", Unit::bytes},
    {Figure::Of::flops, Style::prefixed, 2, 1, "FLOP", Unit::flops},
    {Figure::Of::bytes_per_second, Style::prefixed, 2, 1, "B/s", Unit::bytes_per_second},
    {Figure::Of::flops_per_second, Style::prefixed, 2, 1, "FLOP/s", Unit::flops_per_second},
    {Figure::Of::clock, Style::fixed, 0, kMega, "MHz", Unit::hertz},
    {Figure::Of::energy, Style::fixed, 3, 1, "J", Unit::joules},
    {Figure::Of::power, Style::fixed, 1, 1, "", Unit::watts},
    {Figure::Of::temperature, Style::fixed, 1, 1, "", Unit::degrees_celsius},
    {Figure::Of::change, Style::signed_percent, 2, 1, "%"},
    {Figure::Of::time_change, Style::signed_fixed, 4, 1, ""},
    {Figure::Of::bytes_change, Style::signed_prefixed, 2, 1, "B"},
});

std::string in_threes(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, 1, ',');
  }
  return digits;
}

std::string with_prefix(double number, const Form& form) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  constexpr double kStep = 1000;
  if (number == 0) return fmt::format("0 {}", form.unit);
  size_t prefix = 0;
  while (std::abs(number) >= kStep && prefix + 1 < kPrefixes.size()) {
    number /= kStep;
    ++prefix;
  }
  return fmt::format("{:.{}f} {}{}", number, form.digits, kPrefixes[prefix], form.unit);
}

// Numbers that round to 0 have no sign.
std::string with_sign(double number, int digits) {
  std::string text = fmt::format("{:.{}f}", std::abs(number), digits);
  if (text.find_first_not_of("0.") == std::string::npos) return text;
  return (number < 0 ? "-" : "+") + text;
}

std::string number_text(double value, const Form& form) {
  const double number = value / form.scale;
  switch (form.style) {
    case Style::percent:
      return fmt::format("{:.{}f}", number * 100, form.digits);
    case Style::signed_percent:
      return with_sign(number * 100, form.digits);
    case Style::signed_fixed:
      return with_sign(number, form.digits);
    case Style::whole:
      if (number >= 0 && std::floor(number) == number) {
        return in_threes(static_cast<uint64_t>(number));
      }
      [[fallthrough]];
    case Style::fixed:
    case Style::prefixed:
    case Style::signed_prefixed:
      break;
  }
  return fmt::format("{:.{}f}", number, form.digits);
}

}  // namespace

Figure::Of of_unit(Unit unit) {
  const auto form = std::ranges::find(kForms, std::optional(unit), &Form::of_unit);
  return form == kForms.end() ? Figure::Of::count : form->value;
}

std::string text_of(const Figure& figure) {
  if (!figure.value) return std::string(kMissing);
  const Form& form = kForms.at(static_cast<size_t>(figure.of));
  if (form.style == Style::prefixed) return with_prefix(*figure.value, form);
  if (form.style == Style::signed_prefixed) {
    return (*figure.value > 0 ? "+" : "") + with_prefix(*figure.value, form);
  }
  std::string text = number_text(*figure.value, form);
  if (figure.deviation) text += " \xC2\xB1 " + number_text(*figure.deviation, form);
  if (!form.unit.empty()) text += fmt::format(" {}", form.unit);
  return text;
}

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return text_of(std::get<Figure>(cell));
}

Figure mean_and_std(Time mean, Time std) {
  Figure figure = ms(mean);
  if (std) figure.deviation = std->value;
  return figure;
}

std::string range_ms(const Statistics<Milliseconds>& times) {
  if (times.count == 0) return std::string(kMissing);
  return fmt::format("{} to {}", ms(times.min), ms(times.max));
}

Time typical_value(const ShownTimes& times) {
  return times.typical == Typical::median ? times.p50 : times.mean;
}

std::string typical_text(const ShownTimes& times) {
  return times.typical == Typical::range ? range_ms(times) : text_of(ms(typical_value(times)));
}

std::string typical_of(const ShownTimes& times, std::string_view one) {
  const std::string of =
      fmt::format("{} of {}", to_string(times.typical), counted(times.count, one));
  return times.typical == Typical::median ? fmt::format("{}; {} ms", of, range_ms(times)) : of;
}

std::string typical_ms(const ShownTimes& times, std::string_view one) {
  std::string time = typical_text(times) + " ms";
  if (!is_spread(times)) return time;
  const std::string of = counted(times.count, one);
  return times.typical == Typical::range
             ? fmt::format("{} ({})", time, of)
             : fmt::format("{} (median; {} ms in {})", time, range_ms(times), of);
}

}  // namespace llmprof::report
