#pragma once

// Characters as formats and identifiers use them: ASCII whatever the locale says, and false for any
// byte beyond it, whether `char` is signed or not.
namespace llmprof {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Of an identifier, its first character or another.
constexpr bool is_identifier(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || c == '_';
}

// Every other character stays as it is.
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace llmprof
