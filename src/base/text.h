#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

// Characters as formats and identifiers use them: ASCII whatever the locale says, and false for any
// byte beyond it, whether `char` is signed or not.
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

std::string_view trim(std::string_view text);
// The pieces between the characters `at`, one more than there are of these.
std::vector<std::string_view> split(std::string_view text, char at);
// In double quotes, with quotes and backslashes escaped: as JSON and our overrides write a text
// without control characters.
std::string in_quotes(std::string_view text);
// Appends the base64 (RFC 4648, padded) of some bytes. By hand: no library that we link has it.
void append_base64(std::string& out, std::string_view bytes);
bool contains(std::string_view text, std::string_view part);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Whole text or nothing; '.' is the decimal point whatever the locale says.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_decimal(std::string_view text);
// A decimal number, with or without an exponent, times 10^power: exact, rounded to an integer (half
// away from zero). Nothing for what is not a number or does not fit.
std::optional<int64_t> parse_scaled(std::string_view text, int power);

// Bytes of the UTF-8 character that a text which is not empty begins with; 0: it begins with none.
size_t character_length(std::string_view text);

// Valid UTF-8 that a terminal shows as it is: each byte that is not part of a character and each
// invisible format character (directions of writing, zero-width blanks, tags) becomes U+FFFD,
// control characters (line breaks and C1 included) become a space. Joiners within words stay.
std::string to_printable(std::string_view text);
// The same for a text of several lines: its line breaks stay.
std::string to_printable_lines(std::string_view text);
// JSON in which such characters, which only its strings can hold, are escaped.
std::string to_printable_json(std::string_view json);
// What stands for a byte that is not part of a character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
bool is_printable_utf8(std::string_view text);

// "1 pass", "2 passes", "1,024 copies": the plural as English forms it.
std::string counted(uint64_t number, std::string_view one);
// The word alone: "pass" of 1, "passes" of 0 or 2.
std::string plural_of(uint64_t number, std::string_view one);

// At most `limit` characters; an ellipsis shows that it was cut, never within a character.
std::string shortened(std::string_view text, size_t limit);

// The candidate closest in spelling, if any is close enough to be what was meant.
std::optional<std::string_view> nearest(std::string_view wanted,
                                        std::span<const std::string_view> candidates);

// A short list of words, written as one text: "mm|bmm|addmm".
struct WordList {
  std::string_view words;

  [[nodiscard]] constexpr bool contains(std::string_view word) const {
    if (word.empty() || word.find('|') != std::string_view::npos) return false;
    for (size_t at = words.find(word); at != std::string_view::npos;
         at = words.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || words[at - 1] == '|') && (end == words.size() || words[end] == '|')) {
        return true;
      }
    }
    return false;
  }
};

}  // namespace llmprof
