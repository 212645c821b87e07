#include "config/override.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/tree_path.h"
#include "config/tree_text.h"

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
      if (std::ranges::find(made.keys, key.text) != made.keys.end()) {
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
    const bool null = means_null(made.text) && !made.text.empty();
    return null ? node(ConfigNode::Kind::null) : made;
  }

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  size_t position_ = 0;
  bool top_level_comma_ = false;
  std::string fault_;
};

tl::unexpected<Error> no_such_key(const ConfigNode& root, const Override& change,
                                  const std::string& key) {
  return change.wrong(
      fmt::format("there is no key '{}'{}{}", key, did_you_mean(nearest_key(root, key)),
                  change.action == OverrideAction::set ? fmt::format(" (+{}=... adds a key)", key)
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

Result<void> set(ConfigNode& root, const Override& change, const KeyPath& path) {
  ConfigNode* node = find_path(root, path);
  if (node == nullptr) return no_such_key(root, change, change.key);
  if (!node->keys.empty() && change.value.is_scalar()) {
    return change.wrong(
        fmt::format("'{0}' is a map: set one of its keys, such as {0}.{1}=... "
                    "(++{0}=... replaces it with a value)",
                    change.key, node->keys.front()));
  }
  if (const auto unknown = unknown_member(*node, change.value)) {
    return no_such_key(root, change, change.key + "." + *unknown);
  }
  merge_into(*node, change.value);
  return {};
}

Result<void> add(ConfigNode& root, const Override& change, const KeyPath& path) {
  ConfigNode* node = make_path(root, path);
  if (node == nullptr) {
    return change.wrong(
        fmt::format("a part of '{}' is neither a map nor a list with that element", change.key));
  }
  merge_into(*node, change.value);
  for (size_t parts = 1; parts <= path.size(); ++parts) {
    ConfigNode* made = find_path(root, std::span(path).first(parts));
    if (made != nullptr && !made->source) made->source = change.source;
  }
  return {};
}

Result<void> remove(ConfigNode& root, const Override& change, const KeyPath& path) {
  const ConfigNode* node = find_path(root, path);
  if (node == nullptr) return no_such_key(root, change, change.key);
  if (change.has_value && to_json(*node) != to_json(change.value)) {
    return change.wrong(
        fmt::format("'{}' is {}, so nothing was removed", change.key, to_json(*node)));
  }
  erase_path(root, path);
  return {};
}

Result<void> apply(ConfigNode& root, const Override& change) {
  const auto path = split_key(change.key);
  if (!path) return change.wrong(fmt::format("'{}' is not a valid key", change.key));
  switch (change.action) {
    case OverrideAction::set:
      return set(root, change, *path);
    case OverrideAction::add:
      return add(root, change, *path);
    case OverrideAction::remove:
      return remove(root, change, *path);
  }
  return {};
}

}  // namespace

tl::unexpected<Error> Override::wrong(std::string_view what) const {
  return fail(ErrorKind::usage, fmt::format("{}: {}", *source, what));
}

Result<Override> parse_override(const std::string& text) {
  Override parsed;
  parsed.source = std::make_shared<const std::string>(
      fmt::format("override '{}'", shortened(to_printable(text), kLongestQuote)));
  std::string_view rest = text;
  parsed.action = take_action(rest);
  const size_t equals = rest.find('=');
  parsed.has_value = equals != std::string_view::npos;
  if (!parsed.has_value && parsed.action != OverrideAction::remove) {
    return parsed.wrong(fmt::format("has no '='; {}", kGrammar));
  }
  const std::string_view name = rest.substr(0, equals);
  if (name.empty() || !std::ranges::all_of(name, belongs_in_a_key)) {
    return parsed.wrong(fmt::format("'{}' is not a valid key; {}",
                                    shortened(to_printable(name), kLongestQuote), kGrammar));
  }
  const size_t at = name.find('@');
  parsed.key = name.substr(0, at);
  if (at != std::string_view::npos) parsed.package = name.substr(at + 1);
  if (parsed.key.empty() || (at != std::string_view::npos && parsed.package.empty())) {
    return parsed.wrong("write a package as group@package=choice");
  }
  if (!parsed.has_value) return parsed;
  auto value = ValueParser(rest.substr(equals + 1), parsed.source).whole();
  if (!value) return fail_with(value.error());
  parsed.value = std::move(*value);
  return parsed;
}

Result<void> apply_overrides(ConfigNode& root, std::span<const Override> overrides) {
  for (const Override& change : overrides) {
    if (auto applied = apply(root, change); !applied) return applied;
  }
  return {};
}

void apply_what_fits(ConfigNode& root, std::span<const Override> overrides) {
  for (const Override& change : overrides) {
    if (change.action != OverrideAction::remove) std::ignore = apply(root, change);
  }
}

}  // namespace llmprof::config
