#include "config/override.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/needed.h"
#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr size_t kLongestQuote = 120;
constexpr std::string_view kGrammar =
    "write key=value, +key=value to add a key, ~key to remove one, or group=choice";

bool belongs_in_a_key(char c) {
  constexpr std::string_view kOthers = "-./@[]";
  return is_identifier(c) || kOthers.find(c) != std::string_view::npos;
}

OverrideAction take_action(std::string_view& text) {
  for (const std::string_view prefix : {"++", "+", "~"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    return prefix == "~" ? OverrideAction::remove : OverrideAction::add;
  }
  return OverrideAction::set;
}

constexpr int kDeepestOverride = 100;

// Reads one value from left to right.
class ValueParser {
 public:
  ValueParser(std::string_view text, const Override& change) : text_(text), change_(change) {}

  ConfigNode whole() {
    skip_spaces();
    ConfigNode value = peek() == '[' || peek() == '{' || at_quote() ? element(0) : plain("");
    skip_spaces();
    if (position_ < text_.size()) {
      change_.refuse(fmt::format("'{}' after the value; quote the whole value to make it a string",
                                 to_printable(text_.substr(position_))));
    }
    if (top_level_comma_) {
      change_.refuse(
          "has several values: write [a, b] for a list, or quote it to make it a string");
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
    made.source = change_.source;
    return made;
  }

  ConfigNode element(int depth) {
    skip_spaces();
    if (depth > kDeepestOverride) {
      change_.refuse(fmt::format("nested deeper than {} levels", kDeepestOverride));
    }
    if (peek() == '[') return list(depth);
    if (peek() == '{') return map(depth);
    if (at_quote()) return quoted();
    ConfigNode made = plain(",]}");
    if (made.is_scalar() && made.text.empty()) change_.refuse("empty value between commas");
    return made;
  }

  ConfigNode list(int depth) {
    ConfigNode made = node(ConfigNode::Kind::list);
    ++position_;
    if (take(']')) return made;
    do {
      made.children.push_back(element(depth + 1));
    } while (take(','));
    if (!take(']')) change_.refuse("'[' without a matching ']'");
    return made;
  }

  ConfigNode map(int depth) {
    ConfigNode made = node(ConfigNode::Kind::map);
    ++position_;
    if (take('}')) return made;
    do {
      skip_spaces();
      const ConfigNode key = at_quote() ? quoted() : plain(":,]}");
      if (!take(':')) change_.refuse("write a map as {key: value, key: value}");
      if (std::ranges::find(made.keys, key.text) != made.keys.end()) {
        change_.refuse(fmt::format("duplicate key '{}' in the map", to_printable(key.text)));
      }
      made.keys.push_back(key.text);
      made.children.push_back(element(depth + 1));
    } while (take(','));
    if (!take('}')) change_.refuse("'{' without a matching '}'");
    return made;
  }

  // A backslash escapes a quote or itself.
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
    if (position_ >= text_.size()) {
      change_.refuse(fmt::format("{} without a matching closing quote", quote));
    }
    ++position_;
    return made;
  }

  // Reads up to one of `ends` or to the end; an interpolation is taken as a whole.
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
    const bool null = means_null(made.text) && !made.text.empty();
    return null ? node(ConfigNode::Kind::null) : made;
  }

  std::string_view text_;
  const Override& change_;
  size_t position_ = 0;
  bool top_level_comma_ = false;
};

[[noreturn]] void refuse_key(const ConfigNode& root, const Override& change,
                             const std::string& key) {
  change.refuse(fmt::format("there is no key '{}'{}{}", key, did_you_mean(nearest_key(root, key)),
                            change.action == OverrideAction::set
                                ? fmt::format(" (+{}=... adds a key)", key)
                                : std::string()));
}

// The first member of `value` that `node` does not have.
std::optional<std::string> unknown_member(const ConfigNode& node, const ConfigNode& value) {
  if (!node.is_map() || !value.is_map()) return std::nullopt;
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const ConfigNode* member = node.find(value.keys[i]);
    if (member == nullptr) return value.keys[i];
    if (auto below = unknown_member(*member, value.children[i])) {
      return value.keys[i] + "." + *below;
    }
  }
  return std::nullopt;
}

void set(ConfigNode& root, const Override& change, const KeyPath& path) {
  ConfigNode* node = find_path(root, path);
  if (node == nullptr) refuse_key(root, change, change.key);
  if (!node->keys.empty() && change.value.is_scalar()) {
    change.refuse(
        fmt::format("'{0}' is a map: set one of its keys, such as {0}.{1}=... "
                    "(++{0}=... replaces it with a value)",
                    change.key, node->keys.front()));
  }
  if (const auto unknown = unknown_member(*node, change.value)) {
    refuse_key(root, change, change.key + "." + *unknown);
  }
  merge_into(*node, change.value);
}

void add(ConfigNode& root, const Override& change, const KeyPath& path) {
  ConfigNode* node = make_path(root, path);
  if (node == nullptr) {
    change.refuse(
        fmt::format("a part of '{}' is neither a map nor a list with that element", change.key));
  }
  merge_into(*node, change.value);
  for (size_t parts = 1; parts <= path.size(); ++parts) {
    ConfigNode* made = find_path(root, std::span(path).first(parts));
    if (made != nullptr && !made->source) made->source = change.source;
  }
}

void remove(ConfigNode& root, const Override& change, const KeyPath& path) {
  const ConfigNode* node = find_path(root, path);
  if (node == nullptr) refuse_key(root, change, change.key);
  if (change.has_value && to_json(*node) != to_json(change.value)) {
    change.refuse(fmt::format("'{}' is {}, so nothing was removed", change.key, to_json(*node)));
  }
  erase_path(root, path);
}

void apply(ConfigNode& root, const Override& change) {
  const auto path = split_key(change.key);
  if (!path) change.refuse(fmt::format("'{}' is not a valid key", change.key));
  switch (change.action) {
    case OverrideAction::set:
      return set(root, change, *path);
    case OverrideAction::add:
      return add(root, change, *path);
    case OverrideAction::remove:
      return remove(root, change, *path);
  }
}

Override parsed_override(const std::string& text) {
  Override parsed;
  parsed.source = std::make_shared<const std::string>(
      fmt::format("override '{}'", shortened(to_printable(text), kLongestQuote)));
  std::string_view rest = text;
  parsed.action = take_action(rest);
  const size_t equals = rest.find('=');
  parsed.has_value = equals != std::string_view::npos;
  if (!parsed.has_value && parsed.action != OverrideAction::remove) {
    parsed.refuse(fmt::format("has no '='; {}", kGrammar));
  }
  const std::string_view name = rest.substr(0, equals);
  if (name.empty() || !std::ranges::all_of(name, belongs_in_a_key)) {
    parsed.refuse(fmt::format("'{}' is not a valid key; {}",
                              shortened(to_printable(name), kLongestQuote), kGrammar));
  }
  const size_t at = name.find('@');
  parsed.key = name.substr(0, at);
  if (at != std::string_view::npos) parsed.package = name.substr(at + 1);
  if (parsed.key.empty() || (at != std::string_view::npos && parsed.package.empty())) {
    parsed.refuse("write a package as group@package=choice");
  }
  if (parsed.has_value) parsed.value = ValueParser(rest.substr(equals + 1), parsed).whole();
  return parsed;
}

}  // namespace

void Override::refuse(std::string_view what) const {
  give_up(ErrorKind::usage, fmt::format("{}: {}", *source, what));
}

Result<Override> parse_override(const std::string& text) {
  return attempt([&] { return parsed_override(text); });
}

void apply_overrides(ConfigNode& root, std::span<const Override> overrides) {
  for (const Override& change : overrides) apply(root, change);
}

void apply_what_fits(ConfigNode& root, std::span<const Override> overrides) {
  for (const Override& change : overrides) {
    if (change.action != OverrideAction::remove) {
      std::ignore = attempt([&] { apply(root, change); });
    }
  }
}

}  // namespace llmprof::config
