#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::report {

// The lines of a text without line breaks, each at most `width` columns (0: no limit, one line).
// Lines break at blanks only, so that what a reader copies (paths, names) stays whole: a longer
// word stands in a line by itself. What is quoted in `backticks` stays together where it fits in a
// line, and so do a number and its unit.
std::vector<std::string> wrapped(std::string_view text, size_t width);

// The same as one text: `first` before the first line, `rest` (blanks, mostly) before the others.
// Line breaks in the text stay. `width` counts what stands in front. No line break at the end.
std::string wrapped_behind(std::string_view first, std::string_view rest, std::string_view text,
                           size_t width);

// The widest piece that `wrapped` does not break.
size_t longest_piece(std::string_view text);

}  // namespace llmprof::report
