#include "config/config_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace llmprof {
namespace {

// Deeper documents are refused: they would exhaust the stack, and no configuration is so deep.
constexpr int kDeepest = 200;

bool convert(const YAML::Node& from, ConfigNode& into, int depth) {
  if (depth > kDeepest) return false;
  into.line = from.Mark().is_null() ? 0 : static_cast<size_t>(from.Mark().line) + 1;
  if (from.IsScalar()) {
    into.kind = ConfigNode::Kind::scalar;
    into.text = from.Scalar();
  } else if (from.IsSequence()) {
    into.kind = ConfigNode::Kind::list;
    for (const YAML::Node& item : from) {
      if (!convert(item, into.children.emplace_back(), depth + 1)) return false;
    }
  } else if (from.IsMap()) {
    into.kind = ConfigNode::Kind::map;
    for (const auto& entry : from) {
      into.keys.push_back(entry.first.IsScalar() ? entry.first.Scalar() : std::string());
      if (!convert(entry.second, into.children.emplace_back(), depth + 1)) return false;
    }
  }
  return true;
}

bool convert(const nlohmann::ordered_json& from, ConfigNode& into, int depth) {
  if (depth > kDeepest) return false;
  if (from.is_null()) return true;
  if (from.is_object()) {
    into.kind = ConfigNode::Kind::map;
    for (const auto& [key, value] : from.items()) {
      into.keys.push_back(key);
      if (!convert(value, into.children.emplace_back(), depth + 1)) return false;
    }
  } else if (from.is_array()) {
    into.kind = ConfigNode::Kind::list;
    for (const auto& value : from) {
      if (!convert(value, into.children.emplace_back(), depth + 1)) return false;
    }
  } else {
    into.kind = ConfigNode::Kind::scalar;
    into.text = from.is_string() ? from.get<std::string>() : from.dump();
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
  return fail(ErrorKind::usage, node.line > 0 ? fmt::format("{}:{}: {}", name, node.line, what)
                                              : fmt::format("{}: {}", name, what));
}

Result<ConfigDocument> parse_yaml(std::string_view text, std::string name) {
  ConfigDocument document{std::move(name), {}};
  try {
    if (!convert(YAML::Load(std::string(text)), document.root, 0)) {
      return fail(ErrorKind::usage, fmt::format("{}: nested too deeply", document.name));
    }
  } catch (const YAML::Exception& broken) {
    const std::string place = broken.mark.is_null()
                                  ? document.name
                                  : fmt::format("{}:{}", document.name, broken.mark.line + 1);
    return fail(ErrorKind::usage, fmt::format("{}: not valid YAML: {}", place, broken.msg));
  }
  return document;
}

Result<ConfigDocument> parse_json(std::string_view text, std::string name) {
  ConfigDocument document{std::move(name), {}};
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorKind::usage, fmt::format("{}: not valid JSON", document.name));
  }
  if (!convert(json, document.root, 0)) {
    return fail(ErrorKind::usage, fmt::format("{}: nested too deeply", document.name));
  }
  return document;
}

}  // namespace llmprof
