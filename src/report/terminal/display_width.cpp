#include "report/terminal/text_layout.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <set>

namespace llmprof::report {
namespace {

// The defaults are those of a byte that is not UTF-8.
struct Character {
  size_t columns = 1;
  size_t bytes = 1;
};

Character first_of(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (bytes <= 0) return {};
  return {.columns = static_cast<size_t>(utf8proc_charwidth(code)),
          .bytes = static_cast<size_t>(bytes)};
}

// The longest end of the text that takes at most `width` columns.
std::string_view back_of(std::string_view text, size_t width) {
  size_t rest = display_width(text);
  while (rest > width) {
    const Character character = first_of(text);
    rest -= character.columns;
    text.remove_prefix(character.bytes);
  }
  // Combining marks whose character was cut off.
  while (!text.empty() && first_of(text).columns == 0) {
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
    width += character.columns;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string_view front_of(std::string_view text, size_t width) {
  size_t used = 0;
  size_t end = 0;
  while (end < text.size()) {
    const Character character = first_of(text.substr(end));
    used += character.columns;
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
