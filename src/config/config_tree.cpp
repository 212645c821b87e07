#include "config/config_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "config/tree_limits.h"

namespace llmprof::config {
namespace {

// False where the document is too deep or too large.
bool convert(const nlohmann::ordered_json& from, ConfigNode& into, TreeLimits& limits,
             int depth = 0) {
  if (!limits.admit(depth)) return false;
  if (from.is_object()) {
    into.kind = ConfigNode::Kind::map;
    for (const auto& [key, value] : from.items()) {
      into.keys.push_back(key);
      if (!convert(value, into.children.emplace_back(), limits, depth + 1)) return false;
    }
  } else if (from.is_array()) {
    into.kind = ConfigNode::Kind::list;
    for (const auto& value : from) {
      if (!convert(value, into.children.emplace_back(), limits, depth + 1)) return false;
    }
  } else if (!from.is_null()) {
    into.kind = ConfigNode::Kind::scalar;
    into.quoted = from.is_string();
    into.text = into.quoted ? from.get<std::string>() : from.dump();
  }
  return true;
}

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

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
  return is_scalar() ? parse_whole<double>(text) : std::nullopt;
}

std::optional<int64_t> ConfigNode::integer() const {
  return is_scalar() ? parse_whole<int64_t>(text) : std::nullopt;
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

Result<ConfigDocument> parse_json(std::string_view text, std::string name) {
  ConfigDocument document{std::move(name), {}};
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorKind::usage, fmt::format("{}: not valid JSON", document.name));
  }
  TreeLimits limits;
  if (!convert(json, document.root, limits)) return TreeLimits::exceeded(document.name);
  return document;
}

}  // namespace llmprof::config
