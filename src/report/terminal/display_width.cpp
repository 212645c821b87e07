#include "report/terminal/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>

namespace llmprof::report {
namespace {

struct Character {
  char32_t code = 0;
  size_t bytes = 1;
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t wanted = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  Character character;
  character.bytes = std::min(wanted, text.size());
  constexpr std::array<unsigned, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  character.code = lead & kLeadBits[wanted];
  for (size_t i = 1; i < character.bytes; ++i) {
    character.code = (character.code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return character;
}

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Blocks of Unicode 15 that terminals show without a column of their own: combining marks, joiners,
// variation selectors.
constexpr CodeRange kCombining[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                    {0x0610, 0x061A}, {0x064B, 0x065F}, {0x200B, 0x200F},
                                    {0x20D0, 0x20FF}, {0x3099, 0x309A}, {0xFE00, 0xFE0F},
                                    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// East Asian Wide and Fullwidth, and emoji.
constexpr auto kWide = std::to_array<CodeRange>(
    {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
     {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x26A1, 0x26A1},   {0x2705, 0x2705},
     {0x274C, 0x274C},   {0x2795, 0x2797},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
     {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
     {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
     {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}});

bool is_in(std::span<const CodeRange> ranges, char32_t code) {
  const auto next = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return next != ranges.begin() && code <= std::prev(next)->last;
}

size_t columns_of(char32_t code) {
  if (code < kCombining[0].first) return 1;
  if (is_in(kCombining, code)) return 0;
  return is_in(kWide, code) ? 2 : 1;
}

// The longest end of the text that takes at most `width` columns.
std::string_view back_of(std::string_view text, size_t width) {
  size_t rest = display_width(text);
  while (rest > width) {
    const Character character = first_of(text);
    rest -= columns_of(character.code);
    text.remove_prefix(character.bytes);
  }
  // Combining marks whose character was cut off.
  while (!text.empty() && columns_of(first_of(text).code) == 0) {
    text.remove_prefix(first_of(text).bytes);
  }
  return text;
}

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// Keeps `tail` columns for the end of the text.
std::string shortened_around(std::string_view text, size_t width, size_t tail) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const size_t kept = width - 1;
  tail = std::min(tail, kept);
  std::string shortened(front_of(text, kept - tail));
  shortened += kEllipsis;
  shortened += back_of(text, tail);
  return shortened;
}

// Moves the gap until no two texts look alike; if no place works, appends a number to each.
void add_distinct(const std::set<std::string>& group, size_t width,
                  std::map<std::string, std::string>& distinct) {
  for (size_t tail = 0; tail < width; ++tail) {
    std::set<std::string> seen;
    for (const std::string& text : group) seen.insert(shortened_around(text, width, tail));
    if (seen.size() < group.size()) continue;
    for (const std::string& text : group) distinct[text] = shortened_around(text, width, tail);
    return;
  }
  size_t number = 0;
  for (const std::string& text : group) {
    const std::string mark = "~" + std::to_string(++number);
    const size_t room = width - std::min(width, mark.size());
    distinct[text] = shortened_around(text, room, room / 3) + mark;
  }
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    width += columns_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string_view front_of(std::string_view text, size_t width) {
  size_t used = 0;
  size_t end = 0;
  while (end < text.size()) {
    const Character character = first_of(text.substr(end));
    used += columns_of(character.code);
    if (used > width) break;
    end += character.bytes;
  }
  return text.substr(0, end);
}

std::string shortened_in_the_middle(std::string_view text, size_t width) {
  return shortened_around(text, width, (width - std::min<size_t>(width, 1)) / 3);
}

std::vector<std::string> shortened_distinctly(const std::vector<std::string>& texts, size_t width) {
  std::vector<std::string> shown(texts.size());
  std::map<std::string, std::set<std::string>> texts_of;  // by shortened text
  for (size_t i = 0; i < texts.size(); ++i) {
    shown[i] = shortened_in_the_middle(texts[i], width);
    texts_of[shown[i]].insert(texts[i]);
  }
  std::map<std::string, std::string> distinct;  // for texts that look alike
  for (const auto& [alike, group] : texts_of) {
    if (group.size() > 1) add_distinct(group, width, distinct);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (const auto found = distinct.find(texts[i]); found != distinct.end()) {
      shown[i] = found->second;
    }
  }
  return shown;
}

}  // namespace llmprof::report
