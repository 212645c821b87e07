#include "config/value_overrides.h"

#include <fmt/format.h>

#include <utility>

#include "config/tree_path.h"
#include "config/tree_text.h"

namespace llmprof::config {
namespace {

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
