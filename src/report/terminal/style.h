#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llmprof::report {

inline constexpr size_t kNarrowestTerminal = 50;
inline constexpr size_t kWidestTerminal = 200;

// What a terminal can show. The default is that of a pipe or a file: text for grep and for other
// programs, in which nothing is wrapped, shortened or left out.
struct TerminalStyle {
  size_t width = 0;  // columns; 0: no limit
  bool color = false;
};

// Colors repeat what the words say already, and never carry a meaning alone.
enum class Tint { heading, warning, error, good, quiet };

// `text` itself where the style has no color.
std::string tinted(std::string_view text, Tint tint, const TerminalStyle& style);

}  // namespace llmprof::report
