#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmprof {

std::string_view trim(std::string_view text);
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

}  // namespace llmprof
