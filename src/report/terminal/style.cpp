#include "report/terminal/style.h"

namespace llmprof::report {
namespace {

// SGR parameters that every terminal palette shows on light and on dark grounds.
std::string_view parameters_of(Tint tint) {
  switch (tint) {
    case Tint::heading:
      return "1";
    case Tint::warning:
      return "1;33";
    case Tint::error:
      return "1;31";
    case Tint::good:
      return "32";
    case Tint::quiet:
      return "2";
  }
  return "0";
}

}  // namespace

std::string tinted(std::string_view text, Tint tint, const TerminalStyle& style) {
  if (!style.color || text.empty()) return std::string(text);
  std::string colored = "\x1B[";
  colored += parameters_of(tint);
  colored += 'm';
  colored += text;
  return colored + "\x1B[0m";
}

}  // namespace llmprof::report
