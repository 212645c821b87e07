#include "config/config_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/needed.h"
#include "base/text.h"

namespace llmprof::config {
namespace {

// Longer texts are not misspelled keys, and comparison time is quadratic in the length.
constexpr size_t kLongestKey = 200;

std::optional<size_t> child(const ConfigNode& node, std::string_view part) {
  const auto at = node.is_list() ? parse_int(part).value_or(-1)
                                 : std::ranges::find(node.keys, part) - node.keys.begin();
  if (at < 0 || at >= std::ssize(node.children)) return std::nullopt;
  return static_cast<size_t>(at);
}

template <class Node>
Node* walk(Node& root, std::span<const std::string> path) {
  Node* node = &root;
  for (const std::string& part : path) {
    const auto at = child(*node, part);
    if (!at) return nullptr;
    node = &node->children[*at];
  }
  return node;
}

void add_keys(const ConfigNode& node, const std::string& prefix, std::vector<std::string>& keys) {
  for (size_t i = 0; i < node.keys.size(); ++i) {
    keys.push_back(prefix + node.keys[i]);
    add_keys(node.children[i], keys.back() + ".", keys);
  }
}

// Finds "a.b.c" for "b.c" and for "z.b.c": only the leading parts may differ.
std::optional<std::string> same_but_for_its_place(std::string_view wanted,
                                                  const std::vector<std::string>& keys) {
  const size_t first_part = wanted.find('.');
  const std::string_view rest =
      first_part == std::string_view::npos ? wanted : wanted.substr(first_part + 1);
  for (const std::string_view tail : {wanted, rest}) {
    for (const std::string& key : keys) {
      if (key == tail || key.ends_with("." + std::string(tail))) return key;
    }
  }
  return std::nullopt;
}

}  // namespace

ConfigNode ConfigNode::scalar(std::string text, bool quoted) {
  ConfigNode node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &children[i];
  }
  return nullptr;
}

const ConfigNode& ConfigNode::operator[](std::string_view key) const {
  static const ConfigNode nothing;
  const ConfigNode* found = find(key);
  return found == nullptr ? nothing : *found;
}

std::optional<double> ConfigNode::number() const {
  return is_scalar() ? parse_decimal(text) : std::nullopt;
}

std::optional<int64_t> ConfigNode::integer() const {
  return is_scalar() ? parse_int(text) : std::nullopt;
}

std::optional<bool> ConfigNode::boolean() const {
  if (!is_scalar()) return std::nullopt;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  return std::nullopt;
}

tl::unexpected<Error> ConfigDocument::wrong(const ConfigNode& node, std::string_view what) const {
  const std::string& place = node.source ? *node.source : name;
  return fail(ErrorKind::usage, node.line > 0 ? fmt::format("{}:{}: {}", place, node.line, what)
                                              : fmt::format("{}: {}", place, what));
}

void ConfigDocument::refuse(const ConfigNode& node, std::string_view what) const {
  throw Failure(wrong(node, what).value());
}

bool means_null(std::string_view plain) {
  constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
  return std::ranges::find(kNulls, plain) != kNulls.end();
}

Result<void> ConfigDocument::check_keys(const ConfigNode& map,
                                        std::span<const std::string_view> known) const {
  for (size_t i = 0; i < map.keys.size(); ++i) {
    if (std::find(known.begin(), known.end(), map.keys[i]) != known.end()) continue;
    return wrong(map.children[i], unknown_word("key", map.keys[i], known));
  }
  return {};
}

std::string unknown_word(std::string_view what, std::string_view text,
                         std::span<const std::string_view> known) {
  const auto close = nearest(text, known);
  return close ? fmt::format("unknown {} '{}'; did you mean '{}'?", what, text, *close)
               : fmt::format("unknown {} '{}'; available: {}", what, text, fmt::join(known, ", "));
}

std::optional<KeyPath> split_key(std::string_view dotted) {
  KeyPath parts(1);
  bool bracketed = false;
  for (const char c : dotted) {
    if (c == '[' || (c == '.' && !bracketed)) {
      if (bracketed || parts.back().empty()) return std::nullopt;
      bracketed = c == '[';
      parts.emplace_back();
    } else if (c == ']') {
      if (!bracketed) return std::nullopt;
      bracketed = false;
    } else {
      parts.back() += c;
    }
  }
  if (bracketed || parts.back().empty()) return std::nullopt;
  return parts;
}

const ConfigNode* find_path(const ConfigNode& root, std::span<const std::string> path) {
  return walk(root, path);
}
ConfigNode* find_path(ConfigNode& root, std::span<const std::string> path) {
  return walk(root, path);
}

ConfigNode* make_path(ConfigNode& root, std::span<const std::string> path) {
  ConfigNode* node = &root;
  for (const std::string& part : path) {
    if (node->is_null()) node->kind = ConfigNode::Kind::map;
    if (const auto at = child(*node, part)) {
      node = &node->children[*at];
      continue;
    }
    if (!node->is_map()) return nullptr;
    node->keys.push_back(part);
    node = &node->children.emplace_back();
  }
  return node;
}

bool erase_path(ConfigNode& root, std::span<const std::string> path) {
  if (path.empty()) return false;
  ConfigNode* parent = find_path(root, path.first(path.size() - 1));
  const auto at = parent == nullptr ? std::nullopt : child(*parent, path.back());
  if (!at) return false;
  const auto offset = static_cast<std::ptrdiff_t>(*at);
  if (parent->is_map()) parent->keys.erase(parent->keys.begin() + offset);
  parent->children.erase(parent->children.begin() + offset);
  return true;
}

void merge_into(ConfigNode& into, const ConfigNode& from) {
  if (!into.is_map() || !from.is_map()) {
    into = from;
    return;
  }
  for (size_t i = 0; i < from.keys.size(); ++i) {
    if (const auto at = child(into, from.keys[i])) {
      merge_into(into.children[*at], from.children[i]);
    } else {
      into.keys.push_back(from.keys[i]);
      into.children.push_back(from.children[i]);
    }
  }
}

std::optional<std::string> nearest_key(const ConfigNode& root, std::string_view wanted) {
  std::vector<std::string> keys;
  add_keys(root, "", keys);
  if (auto key = same_but_for_its_place(wanted, keys)) return key;
  if (wanted.size() > kLongestKey) return std::nullopt;
  const std::vector<std::string_view> candidates(keys.begin(), keys.end());
  return std::optional<std::string>(nearest(wanted, candidates));
}

std::string did_you_mean(const std::optional<std::string>& close) {
  return close ? fmt::format("; did you mean '{}'?", *close) : std::string();
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates) {
  if (wanted.size() > kLongestKey) return {};
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return did_you_mean(std::optional<std::string>(nearest(wanted, views)));
}

}  // namespace llmprof::config
