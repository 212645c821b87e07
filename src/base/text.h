#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

// Characters for formats and identifiers: ASCII in every locale, and false for any other byte,
// whether `char` is signed or not.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Whether a character may be part of an identifier, first or later.
constexpr bool is_identifier(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || c == '_';
}
// Other characters stay unchanged.
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trim(std::string_view text);
// The pieces between occurrences of `at`, one more than there are occurrences.
std::vector<std::string_view> split(std::string_view text, char at);
// In double quotes, with quotes and backslashes escaped: the form of a text without control
// characters in JSON and in our overrides.
std::string in_quotes(std::string_view text);
// Appends base64 (RFC 4648, padded). Handwritten: no linked library provides it.
void append_base64(std::string& out, std::string_view bytes);
bool contains(std::string_view text, std::string_view part);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Parses the entire text, otherwise none; '.' is the decimal point in every locale.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_decimal(std::string_view text);
// A decimal number, with or without an exponent, times 10^power: computed exactly, then rounded to
// an integer (half away from zero). None if it is not a number or does not fit.
std::optional<int64_t> parse_scaled(std::string_view text, int power);

// Bytes of the first UTF-8 character of a text that is not empty; 0: it does not start with one.
size_t character_length(std::string_view text);

// Valid UTF-8 that is safe on a terminal: bytes that are not part of a character and invisible
// format characters (writing directions, zero-width blanks, tags) become U+FFFD; control characters
// (including line breaks and C1) become a space. Joiners within words stay.
std::string to_printable(std::string_view text);
// The same for a text of several lines: line breaks stay.
std::string to_printable_lines(std::string_view text);
// JSON in which such characters, which only occur in its strings, are escaped.
std::string to_printable_json(std::string_view json);
// Replaces a byte that is not part of a character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
bool is_printable_utf8(std::string_view text);

// "1 pass", "2 passes", "1,024 copies": with the English plural.
std::string counted(uint64_t number, std::string_view one);
// Only the word: "pass" for 1, "passes" for 0 or 2.
std::string plural_of(uint64_t number, std::string_view one);

// At most `limit` characters; an ellipsis shows the cut, which never splits a character.
std::string shortened(std::string_view text, size_t limit);

// The candidate with the closest spelling, if one is close enough.
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
