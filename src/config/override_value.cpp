#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/override.h"

namespace llmprof::config {
namespace {

constexpr int kDeepestOverride = 100;
constexpr std::array<std::string_view, 4> kNull = {"null", "Null", "NULL", "~"};

// Reads one value from left to right; the first fault ends it.
class ValueParser {
 public:
  ValueParser(std::string_view text, std::shared_ptr<const std::string> source)
      : text_(text), source_(std::move(source)) {}

  Result<ConfigNode> whole() {
    skip_spaces();
    ConfigNode value = peek() == '[' || peek() == '{' || at_quote() ? element(0) : plain("");
    skip_spaces();
    if (fault_.empty() && position_ < text_.size()) {
      fault_ = fmt::format("'{}' after the value; quote the whole value to make it a string",
                           to_printable(text_.substr(position_)));
    }
    if (fault_.empty() && top_level_comma_) {
      fault_ = "has several values: write [a, b] for a list, or quote it to make it a string";
    }
    if (!fault_.empty()) {
      return fail(ErrorKind::usage, fmt::format("{}: {}", *source_, fault_));
    }
    return value;
  }

 private:
  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  [[nodiscard]] bool at_quote() const { return peek() == '"' || peek() == '\''; }

  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }

  bool take(char c) {
    skip_spaces();
    if (peek() != c) return false;
    ++position_;
    return true;
  }

  [[nodiscard]] ConfigNode node(ConfigNode::Kind kind) const {
    ConfigNode made;
    made.kind = kind;
    made.source = source_;
    return made;
  }

  ConfigNode element(int depth) {
    skip_spaces();
    if (depth > kDeepestOverride) {
      fault_ = fmt::format("nested deeper than {} levels", kDeepestOverride);
      return {};
    }
    if (peek() == '[') return list(depth);
    if (peek() == '{') return map(depth);
    if (at_quote()) return quoted();
    ConfigNode made = plain(",]}");
    if (made.is_scalar() && made.text.empty()) fault_ = "empty value between commas";
    return made;
  }

  ConfigNode list(int depth) {
    ConfigNode made = node(ConfigNode::Kind::list);
    ++position_;
    if (take(']')) return made;
    do {
      made.children.push_back(element(depth + 1));
    } while (fault_.empty() && take(','));
    if (fault_.empty() && !take(']')) fault_ = "'[' without a matching ']'";
    return made;
  }

  ConfigNode map(int depth) {
    ConfigNode made = node(ConfigNode::Kind::map);
    ++position_;
    if (take('}')) return made;
    do {
      skip_spaces();
      const ConfigNode key = at_quote() ? quoted() : plain(":,]}");
      if (fault_.empty() && !take(':')) fault_ = "write a map as {key: value, key: value}";
      if (!fault_.empty()) break;
      if (std::find(made.keys.begin(), made.keys.end(), key.text) != made.keys.end()) {
        fault_ = fmt::format("duplicate key '{}' in the map", to_printable(key.text));
      }
      made.keys.push_back(key.text);
      made.children.push_back(element(depth + 1));
    } while (fault_.empty() && take(','));
    if (fault_.empty() && !take('}')) fault_ = "'{' without a matching '}'";
    return made;
  }

  // A backslash keeps the quote, or itself, from meaning anything.
  ConfigNode quoted() {
    ConfigNode made = node(ConfigNode::Kind::scalar);
    made.quoted = true;
    const char quote = text_[position_++];
    while (position_ < text_.size() && peek() != quote) {
      const bool escape = peek() == '\\' && position_ + 1 < text_.size() &&
                          (text_[position_ + 1] == quote || text_[position_ + 1] == '\\');
      if (escape) ++position_;
      made.text += text_[position_++];
    }
    if (peek() != quote || position_ >= text_.size()) {
      fault_ = fmt::format("{} without a matching closing quote", quote);
    }
    ++position_;
    return made;
  }

  // Up to one of `ends`, or to the end; an interpolation is taken whole, whatever is in it.
  ConfigNode plain(std::string_view ends) {
    const size_t start = position_;
    size_t open = 0;
    for (; position_ < text_.size(); ++position_) {
      const char c = peek();
      if (text_.substr(position_).starts_with("${")) {
        ++open;
        ++position_;
      } else if (open > 0) {
        if (c == '}') --open;
      } else if (ends.find(c) != std::string_view::npos) {
        break;
      } else if (c == ',') {
        top_level_comma_ = true;
      }
    }
    ConfigNode made = node(ConfigNode::Kind::scalar);
    made.text = trim(text_.substr(start, position_ - start));
    made.quoted = made.text.empty();
    if (std::find(kNull.begin(), kNull.end(), made.text) != kNull.end()) {
      return node(ConfigNode::Kind::null);
    }
    return made;
  }

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  size_t position_ = 0;
  bool top_level_comma_ = false;
  std::string fault_;
};

}  // namespace

Result<ConfigNode> parse_override_value(std::string_view text,
                                        std::shared_ptr<const std::string> source) {
  return ValueParser(text, std::move(source)).whole();
}

}  // namespace llmprof::config
