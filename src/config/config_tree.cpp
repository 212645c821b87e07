#include "config/config_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace llmprof::config {
namespace {

// Deeper documents are refused: they would exhaust the stack, and no configuration is so deep.
constexpr int kDeepest = 200;
// Larger ones too: a few lines of YAML aliases can stand for billions of values.
constexpr size_t kMostNodes = 1'000'000;
// What yaml-cpp calls a scalar in quotes, or a block of text.
constexpr std::string_view kTagOfQuoted = "!";

// Copies a parsed document; false where it is too deep or too large.
class Conversion {
 public:
  bool yaml(const YAML::Node& from, ConfigNode& into, int depth = 0) {
    if (!admit(depth)) return false;
    if (into.line == 0 && !from.Mark().is_null()) into.line = line_of(from);
    if (from.IsScalar()) {
      into.kind = ConfigNode::Kind::scalar;
      into.text = from.Scalar();
      into.quoted = from.Tag() == kTagOfQuoted;
    } else if (from.IsSequence()) {
      into.kind = ConfigNode::Kind::list;
      for (const YAML::Node& item : from) {
        if (!yaml(item, into.children.emplace_back(), depth + 1)) return false;
      }
    } else if (from.IsMap()) {
      into.kind = ConfigNode::Kind::map;
      for (const auto& entry : from) {
        into.keys.push_back(entry.first.IsScalar() ? entry.first.Scalar() : std::string());
        ConfigNode& member = into.children.emplace_back();
        member.line = line_of(entry.first);
        if (!yaml(entry.second, member, depth + 1)) return false;
      }
    }
    return true;
  }

  bool json(const nlohmann::ordered_json& from, ConfigNode& into, int depth = 0) {
    if (!admit(depth)) return false;
    if (from.is_object()) {
      into.kind = ConfigNode::Kind::map;
      for (const auto& [key, value] : from.items()) {
        into.keys.push_back(key);
        if (!json(value, into.children.emplace_back(), depth + 1)) return false;
      }
    } else if (from.is_array()) {
      into.kind = ConfigNode::Kind::list;
      for (const auto& value : from) {
        if (!json(value, into.children.emplace_back(), depth + 1)) return false;
      }
    } else if (!from.is_null()) {
      into.kind = ConfigNode::Kind::scalar;
      into.quoted = from.is_string();
      into.text = into.quoted ? from.get<std::string>() : from.dump();
    }
    return true;
  }

 private:
  static size_t line_of(const YAML::Node& node) {
    return node.Mark().is_null() ? 0 : static_cast<size_t>(node.Mark().line) + 1;
  }

  bool admit(int depth) { return depth <= kDeepest && ++nodes_ <= kMostNodes; }

  size_t nodes_ = 0;
};

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::unexpected<Error> too_large(const ConfigDocument& document) {
  return fail(ErrorKind::usage,
              fmt::format("{}: nested deeper than {} levels, or more than {} values", document.name,
                          kDeepest, kMostNodes));
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
  const std::string& place = node.source ? *node.source : name;
  return fail(ErrorKind::usage, node.line > 0 ? fmt::format("{}:{}: {}", place, node.line, what)
                                              : fmt::format("{}: {}", place, what));
}

Result<ConfigDocument> parse_yaml(std::string_view text, std::string name) {
  ConfigDocument document{std::move(name), {}};
  try {
    if (!Conversion().yaml(YAML::Load(std::string(text)), document.root)) {
      return too_large(document);
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
  if (!Conversion().json(json, document.root)) {
    return too_large(document);
  }
  return document;
}

}  // namespace llmprof::config
