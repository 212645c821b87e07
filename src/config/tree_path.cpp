#include "config/tree_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::config {
namespace {

// Longer texts are not misspelled keys, and comparing them takes time with the square of the
// length.
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

// "b.c" of "a.b.c", and "b.c" for "z.b.c": all but what leads to it is the same.
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
