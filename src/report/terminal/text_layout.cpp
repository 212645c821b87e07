#include "report/terminal/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace llmprof::report {
namespace {

// SGR parameters that are readable on light and on dark backgrounds in every terminal palette, by
// tint.
constexpr std::array<std::string_view, 5> kParameters = {"1", "1;33", "1;31", "32", "2"};

struct Piece {
  size_t begin = 0;
  size_t end = 0;
};

size_t end_of_word(std::string_view text, size_t begin) {
  return std::min(text.find(' ', begin), text.size());
}

// Whether a unit follows the blank after a number.
bool unit_follows(std::string_view text, size_t begin, size_t blank) {
  constexpr auto kUnits = std::to_array<std::string_view>(
      {"%", "ns", "\xC2\xB5s", "us", "ms", "s", "min", "MB", "GB", "MiB", "GiB"});
  if (blank == begin || blank >= text.size()) return false;
  const char last = text[blank - 1];
  if (last < '0' || last > '9') return false;
  std::string_view word = text.substr(blank + 1, end_of_word(text, blank + 1) - blank - 1);
  while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// Text that must stay together from `begin` on: a word, with the unit after it, or a quotation that
// starts in it and is at most `limit` wide.
Piece piece_at(std::string_view text, size_t begin, size_t limit) {
  size_t end = end_of_word(text, begin);
  if (unit_follows(text, begin, end)) end = end_of_word(text, end + 1);
  const std::string_view word = text.substr(begin, end - begin);
  if (std::count(word.begin(), word.end(), '`') % 2 == 0) return {begin, end};
  const size_t close = text.find('`', end);
  if (close == std::string_view::npos) return {begin, end};
  const size_t quoted = end_of_word(text, close);
  if (display_width(text.substr(begin, quoted - begin)) > limit) return {begin, end};
  return {begin, quoted};
}

constexpr size_t kLongestQuotation = 60;

// Lines whose first one has a different width.
std::vector<std::string> lines_of(std::string_view text, size_t first_width, size_t width) {
  if (display_width(text) <= first_width) return {std::string(text)};
  std::vector<std::string> lines;
  size_t line = 0;  // where it starts
  size_t used = 0;  // columns
  size_t end = 0;   // of the line so far
  size_t next = std::min(text.find_first_not_of(' '), text.size());
  while (next < text.size()) {
    const size_t room = lines.empty() ? first_width : width;
    const Piece piece = piece_at(text, next, std::min(width, kLongestQuotation));
    const size_t wanted = display_width(text.substr(end, piece.end - end));
    if (end > line && used + wanted > room) {
      lines.emplace_back(text.substr(line, end - line));
      line = piece.begin;
      used = display_width(text.substr(piece.begin, piece.end - piece.begin));
    } else {
      used += wanted;
    }
    end = piece.end;
    next = std::min(text.find_first_not_of(' ', end), text.size());
  }
  lines.emplace_back(text.substr(line, end - line));
  return lines;
}

size_t room_behind(std::string_view before, size_t width) {
  const size_t taken = display_width(before);
  return width > taken ? width - taken : 1;
}

// Takes `excess` away from columns that can shrink, always from the widest.
void shrink(std::span<const ColumnNeed> needs, size_t excess, std::vector<FittedColumn>& columns) {
  for (; excess > 0; --excess) {
    FittedColumn* widest = nullptr;
    for (FittedColumn& column : columns) {
      if (column.width <= needs[column.index].smallest) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

size_t total_width(const std::vector<FittedColumn>& columns, size_t gap) {
  size_t sum = gap * columns.size();
  for (const FittedColumn& column : columns) sum += column.width;
  return sum;
}

// A wide column that was dropped last leaves room for narrow ones dropped before it.
void take_back(std::span<const ColumnNeed> needs, size_t gap, size_t width, FittedTable& table) {
  for (size_t i = table.left_out.size(); i-- > 0;) {
    const size_t index = table.left_out[i];
    if (total_width(table.shown, gap) + gap + needs[index].natural > width) continue;
    const auto place = std::ranges::upper_bound(table.shown, index, {}, &FittedColumn::index);
    table.shown.insert(place, {index, needs[index].natural});
    table.left_out.erase(table.left_out.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace

std::string tinted(std::string_view text, Tint tint, const TerminalStyle& style) {
  if (!style.color || text.empty()) return std::string(text);
  return fmt::format("\x1B[{}m{}\x1B[0m", kParameters[static_cast<size_t>(tint)], text);
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  if (width == 0) return {std::string(text)};
  return lines_of(text, width, width);
}

std::string wrapped_behind(std::string_view first, std::string_view rest, std::string_view text,
                           size_t width) {
  std::string out;
  std::string_view before = first;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view part = text.substr(0, end);
    const auto lines = width == 0
                           ? std::vector<std::string>{std::string(part)}
                           : lines_of(part, room_behind(before, width), room_behind(rest, width));
    for (const std::string& line : lines) {
      if (!out.empty()) out += '\n';
      out += before;
      out += line;
      before = rest;
    }
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

size_t longest_piece(std::string_view text) {
  size_t longest = 0;
  size_t next = std::min(text.find_first_not_of(' '), text.size());
  while (next < text.size()) {
    const Piece piece = piece_at(text, next, 0);
    longest = std::max(longest, display_width(text.substr(piece.begin, piece.end - piece.begin)));
    next = std::min(text.find_first_not_of(' ', piece.end), text.size());
  }
  return longest;
}

FittedTable fit_columns(std::span<const ColumnNeed> needs, size_t gap, size_t width) {
  FittedTable table;
  std::vector<size_t> kept(needs.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  while (true) {
    table.shown.clear();
    for (const size_t index : kept) table.shown.push_back({index, needs[index].natural});
    if (width == 0 || kept.empty()) return table;
    const size_t wanted = total_width(table.shown, gap);
    if (wanted <= width) break;
    shrink(needs, wanted - width, table.shown);
    if (total_width(table.shown, gap) <= width || kept.size() == 1) break;
    const auto least = std::min_element(kept.rbegin(), kept.rend(), [&](size_t a, size_t b) {
      return needs[a].priority < needs[b].priority;
    });
    table.left_out.push_back(*least);
    kept.erase(std::next(least).base());
  }
  take_back(needs, gap, width, table);
  std::sort(table.left_out.begin(), table.left_out.end());
  return table;
}

}  // namespace llmprof::report
