#include "capture/ncu/kernel_filter.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace llmprof::capture {
namespace {

constexpr std::string_view kRegexSpecials = R"(\^$.|?*+()[]{})";
constexpr std::string_view kPunctuation = "<>(),*&[]";
constexpr std::string_view kNvtxSpecials = R"(@,[]/*+\)";

constexpr std::array<std::string_view, 15> kCastTypes = {
    "bool",           "char",          "signed char", "unsigned char", "short",
    "unsigned short", "int",           "unsigned",    "unsigned int",  "long",
    "size_t",         "unsigned long", "long long",   "wchar_t",       "unsigned long long"};

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }
bool is_punctuation(char c) { return kPunctuation.find(c) != std::string_view::npos; }

bool begins_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

// "(int)" before a number, as template arguments are printed.
std::optional<std::string_view> cast_at(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const size_t close = text.find(')');
  if (close == std::string_view::npos || !begins_number(text.substr(close + 1))) {
    return std::nullopt;
  }
  const std::string_view type = text.substr(1, close - 1);
  const bool known = std::find(kCastTypes.begin(), kCastTypes.end(), type) != kCastTypes.end();
  return known ? std::optional(text.substr(0, close + 1)) : std::nullopt;
}

void append_escaped(std::string& pattern, char c) {
  if (kRegexSpecials.find(c) != std::string_view::npos) pattern += '\\';
  pattern += c;
}

// Places where tools may or may not print blanks.
bool blanks_may_differ(char before, char after) {
  return (is_punctuation(before) && is_punctuation(after)) || before == ',' || after == '*' ||
         after == '&' || after == '(';
}

constexpr std::string_view kReturnsNothing = "void ";

// Removes what the tools print differently, to compare names.
std::string bare_name(std::string_view name) {
  std::string bare;
  if (name.starts_with(kReturnsNothing)) name.remove_prefix(kReturnsNothing.size());
  while (!name.empty()) {
    if (const auto cast = cast_at(name)) {
      name.remove_prefix(cast->size());
      continue;
    }
    if (!is_space_or_tab(name.front())) bare += name.front();
    name.remove_prefix(1);
  }
  return bare;
}

}  // namespace

std::string kernel_name_pattern(std::string_view name) {
  if (name.starts_with(kReturnsNothing)) name.remove_prefix(kReturnsNothing.size());
  std::string pattern = "(?:void )?";
  char before = '\0';
  bool blank = false;
  while (!name.empty()) {
    if (is_space_or_tab(name.front())) {
      blank = true;
      name.remove_prefix(1);
      continue;
    }
    if (before != '\0' && (blank || blanks_may_differ(before, name.front()))) pattern += " *";
    blank = false;
    if (const auto cast = cast_at(name)) {
      pattern += R"((?:\()" + std::string(cast->substr(1, cast->size() - 2)) + R"(\))?)";
      before = ')';
      name.remove_prefix(cast->size());
      continue;
    }
    const bool is_argument = before == '<' || before == ',';
    if (is_argument && begins_number(name)) pattern += R"((?:\([a-z ]+\))?)";
    append_escaped(pattern, name.front());
    before = name.front();
    name.remove_prefix(1);
  }
  return pattern;
}

std::string kernel_symbol_pattern(std::string_view symbol) {
  std::string pattern;
  for (const char c : symbol) append_escaped(pattern, c);
  return pattern;
}

bool same_kernel_name(std::string_view a, std::string_view b) {
  return a == b || bare_name(a) == bare_name(b);
}

std::string nvtx_include_expression(std::string_view domain, std::string_view range,
                                    NvtxRangeStyle style) {
  const auto escaped = [](std::string_view name) {
    std::string text;
    for (const char c : name) {
      if (kNvtxSpecials.find(c) != std::string_view::npos) text += '\\';
      text += c;
    }
    return text;
  };
  std::string expression = domain.empty() ? "" : escaped(domain) + "@";
  expression += escaped(range);
  if (style == NvtxRangeStyle::push_pop) expression += '/';
  return expression;
}

}  // namespace llmprof::capture
