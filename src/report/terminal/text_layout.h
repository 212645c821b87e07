#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Text in the columns of a terminal.
namespace llmprof::report {

inline constexpr size_t kNarrowestTerminal = 50;
inline constexpr size_t kWidestTerminal = 200;

// What a terminal can show. The default is for a pipe or a file: text for grep and other programs,
// in which nothing is wrapped, shortened or dropped.
struct TerminalStyle {
  size_t width = 0;  // columns; 0: no limit
  bool color = false;
};

// Colors only repeat what the words already say.
enum class Tint { heading, warning, error, good, quiet };

// `text` itself if the style has no color.
std::string tinted(std::string_view text, Tint tint, const TerminalStyle& style);

// ---- how wide text is: display_width.cpp

// Columns that a terminal takes for valid UTF-8 without control characters (to_printable):
// 2 for wide characters (CJK, emoji), 0 for combining marks, 1 for all others.
size_t display_width(std::string_view text);

// The longest start that takes at most `width` columns; never half a character, and including the
// marks that combine with its last one.
std::string_view front_of(std::string_view text, size_t width);

// At most `width` columns: an ellipsis replaces the middle of a longer text, because kernel names
// differ at both ends.
std::string shortened_in_the_middle(std::string_view text, size_t width);

// The same for the texts of one list: different texts stay different, if necessary by a number.
std::vector<std::string> shortened_distinctly(const std::vector<std::string>& texts, size_t width);

// ---- lines and columns

// The lines of a text without line breaks, each at most `width` columns (0: no limit, one line).
// Lines break only at blanks, so that what a reader copies (paths, names) stays whole: a longer
// word gets a line of its own. Text in `backticks` stays together if it fits in a line, and so do a
// number and its unit.
std::vector<std::string> wrapped(std::string_view text, size_t width);

// The same as one text: `first` before the first line, `rest` (mostly blanks) before the others.
// Line breaks in the text stay. `width` includes these prefixes. No line break at the end.
std::string wrapped_behind(std::string_view first, std::string_view rest, std::string_view text,
                           size_t width);

// The widest piece that `wrapped` does not break.
size_t longest_piece(std::string_view text);

// The room that a column of a table needs, in columns of the terminal.
struct ColumnNeed {
  size_t natural = 0;   // all of its cells in full
  size_t smallest = 0;  // below this it is unreadable; for numbers, the natural width
  int priority = 0;     // columns with the lowest are dropped first; among equals, the last
};

struct FittedColumn {
  size_t index = 0;  // among the needs
  size_t width = 0;
};

struct FittedTable {
  std::vector<FittedColumn> shown;  // in the order of the needs; at least one if there are any
  std::vector<size_t> left_out;     // in the order of the needs
};

// Fits columns, each with `gap` blanks before it, into `width` columns (0: no limit). First wide
// columns shrink, then columns are left out. One column is shown whatever the width.
FittedTable fit_columns(std::span<const ColumnNeed> needs, size_t gap, size_t width);

}  // namespace llmprof::report
