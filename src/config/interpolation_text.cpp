#include "config/composition.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr std::string_view kOpen = "${";
constexpr std::string_view kEscaped = "\\${";

bool belongs_in_a_name(char c) { return is_identifier(c) || c == '.'; }

// The end of an interpolation's content: the position of its closing '}'.
size_t end_of_inside(std::string_view text) {
  size_t open = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kOpen)) {
      ++open;
      ++i;
    } else if (text[i] == '}' && --open == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Splits at commas that are neither in quotes nor in an interpolation.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> arguments(1);
  size_t open = 0;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' && open == 0 && quote == '\0') {
      arguments.emplace_back();
      continue;
    }
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (text.substr(i).starts_with(kOpen)) {
      ++open;
    } else if (c == '}' && open > 0) {
      --open;
    }
    arguments.back() += c;
  }
  for (std::string& argument : arguments) argument = std::string(trim(argument));
  return arguments;
}

}  // namespace

std::optional<std::vector<TextPiece>> split_interpolations(std::string_view text) {
  std::vector<TextPiece> pieces;
  const auto add = [&](char c) {
    if (pieces.empty() || pieces.back().interpolation) pieces.emplace_back();
    pieces.back().text += c;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(kEscaped)) {
      add('$');
      add('{');
      i += kEscaped.size() - 1;
    } else if (rest.starts_with(kOpen)) {
      const std::string_view inside = rest.substr(kOpen.size());
      const size_t end = end_of_inside(inside);
      if (end == std::string_view::npos) return std::nullopt;
      pieces.push_back({true, std::string(inside.substr(0, end))});
      i += kOpen.size() + end;
    } else {
      add(text[i]);
    }
  }
  return pieces;
}

bool has_interpolation(std::string_view text) { return contains(text, kOpen); }

FunctionCall split_function(std::string_view expression) {
  const size_t colon = expression.find(':');
  const std::string_view name = trim(expression.substr(0, colon));
  const bool named = colon != std::string_view::npos && !name.empty() &&
                     std::ranges::all_of(name, belongs_in_a_name);
  if (!named) return {};
  return {std::string(name), split_arguments(expression.substr(colon + 1))};
}

std::optional<std::string> unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  if (!quoted) return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

}  // namespace llmprof::config
