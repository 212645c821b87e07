#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::report {

// Columns that a terminal takes for valid UTF-8 without control characters (to_printable):
// 2 for wide characters (CJK, emoji), 0 for combining marks, 1 for all others.
size_t display_width(std::string_view text);

// The longest front part that takes at most `width` columns; never half a character, and with the
// marks that combine with its last one.
std::string_view front_of(std::string_view text, size_t width);

// At most `width` columns: the middle of a longer text becomes an ellipsis. Names of kernels differ
// at both ends.
std::string shortened_in_the_middle(std::string_view text, size_t width);

// The same for the texts of one list: those that differ stay different, if need be by a number.
std::vector<std::string> shortened_distinctly(const std::vector<std::string>& texts, size_t width);

}  // namespace llmprof::report
