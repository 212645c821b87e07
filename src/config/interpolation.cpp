#include "config/composition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/needed.h"
#include "base/text.h"

namespace llmprof::config {
namespace {

// References can multiply what they refer to; larger configurations are refused.
constexpr size_t kMostResolvedNodes = 200'000;
constexpr size_t kMostText = 16UL << 20U;
constexpr size_t kDeepestReference = 200;
constexpr std::string_view kMandatory = "???";

std::tm time_parts(const std::string& iso) {
  std::tm parts{};
  if (iso.empty()) {
    const std::time_t now = std::time(nullptr);
    localtime_r(&now, &parts);
  } else {
    strptime(iso.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  }
  return parts;
}

std::string time_text(const std::tm& parts, const std::string& format) {
  constexpr size_t kLongest = 1024;
  std::array<char, kLongest> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format.c_str(), &parts)};
}

class Interpolation {
 public:
  Interpolation(const ConfigDocument& tree, std::span<const GroupChoice> choices,
                const ComposeContext& context)
      : tree_(tree), choices_(choices), context_(context), now_(time_parts(context.now)) {}

  // From then on, `${group}` stands for the group's choice.
  void let_groups_stand_for_choices() { groups_are_choices_ = true; }

  ConfigNode resolve(const ConfigNode& node, const KeyPath& path) {
    if (++nodes_ > kMostResolvedNodes || text_ > kMostText || active_.size() > kDeepestReference) {
      tree_.refuse(node, "interpolations expand without limit here");
    }
    const auto again = std::ranges::find(active_, &node, &Active::node);
    if (again != active_.end()) {
      std::string way;
      for (auto at = again; at != active_.end(); ++at) way += at->path + " -> ";
      tree_.refuse(node, fmt::format("circular interpolation: {}{}", way, again->path));
    }
    active_.push_back({&node, fmt::format("{}", fmt::join(path, "."))});
    ConfigNode resolved = node.children.empty() ? resolve_scalar(node, path) : children(node, path);
    active_.pop_back();
    return resolved;
  }

 private:
  struct Active {
    const ConfigNode* node;
    std::string path;
  };
  // The place of an expression: the scalar for messages, its path for relative keys.
  struct Place {
    const ConfigNode& node;
    const KeyPath& path;
  };

  [[noreturn]] void refuse(const Place& place, std::string_view expression,
                           std::string_view what) const {
    tree_.refuse(place.node, fmt::format("${{{}}}: {}", to_printable(expression), what));
  }

  ConfigNode children(const ConfigNode& node, const KeyPath& path) {
    ConfigNode resolved = node;
    for (size_t i = 0; i < node.children.size(); ++i) {
      KeyPath below = path;
      below.push_back(node.is_map() ? node.keys[i] : std::to_string(i));
      resolved.children[i] = resolve(node.children[i], below);
    }
    return resolved;
  }

  ConfigNode resolve_scalar(const ConfigNode& node, const KeyPath& path) {
    if (!node.is_scalar()) return node;
    text_ += node.text.size();
    if (node.text == kMandatory && !node.quoted) {
      tree_.refuse(node,
                   fmt::format("'{0}' has no value; give it one: {0}=VALUE", fmt::join(path, ".")));
    }
    if (!has_interpolation(node.text)) return node;
    ConfigNode value = expanded(node.text, {node, path});
    if (!value.source) {
      value.source = node.source;
      value.line = node.line;
    }
    return value;
  }

  // A text that is a single interpolation keeps its value's type; others are concatenated.
  ConfigNode expanded(std::string_view text, const Place& place) {
    const auto pieces = split_interpolations(text);
    if (!pieces) {
      tree_.refuse(place.node,
                   fmt::format("'{}' has a '${{' without its '}}'", to_printable(text)));
    }
    if (pieces->size() == 1 && pieces->front().interpolation) {
      return evaluated(pieces->front().text, place);
    }
    ConfigNode joined = ConfigNode::scalar({}, true);
    for (const TextPiece& piece : *pieces) {
      if (!piece.interpolation) {
        joined.text += piece.text;
        continue;
      }
      const ConfigNode value = evaluated(piece.text, place);
      if (value.is_map() || value.is_list()) {
        refuse(place, piece.text, "is a map or a list, which cannot be part of a string");
      }
      joined.text += value.is_null() ? "null" : value.text;
    }
    // "1${x}" may be a number.
    joined.quoted = !joined.number() && !joined.boolean();
    text_ += joined.text.size();
    return joined;
  }

  std::string text_of(std::string_view text, const Place& place) {
    ConfigNode value = expanded(text, place);
    if (value.is_map() || value.is_list()) {
      refuse(place, text, "is a map or a list where a string is expected");
    }
    return std::move(value.text);
  }

  ConfigNode evaluated(std::string_view expression, const Place& place) {
    if (++nodes_ > kMostResolvedNodes || ++depth_ > kDeepestReference) {
      refuse(place, shortened(expression, 80), "is nested too deeply");
    }
    const FunctionCall call = split_function(expression);
    ConfigNode value =
        call.name.empty() ? value_of_key(expression, place) : called(call, expression, place);
    --depth_;
    return value;
  }

  ConfigNode value_of_key(std::string_view expression, const Place& place) {
    const std::string key = text_of(trim(expression), place);
    if (groups_are_choices_ && !contains(key, ".")) {
      if (const GroupChoice* choice = find_choice(key)) return ConfigNode::scalar(choice->choice);
    }
    if (auto value = value_at(key, expression, place)) return std::move(*value);
    const std::string dotted = fmt::format("{}", fmt::join(*absolute(key, place), "."));
    refuse(place, expression,
           fmt::format("there is no key '{}'{}", dotted,
                       did_you_mean(nearest_key(tree_.root, dotted))));
  }

  // None if there is no such key.
  std::optional<ConfigNode> value_at(const std::string& key, std::string_view expression,
                                     const Place& place) {
    if (const auto path = absolute(key, place)) return value_at(*path);
    refuse(place, expression, fmt::format("'{}' is not a valid key", to_printable(key)));
  }

  // ".x" is in the same map, "..x" one level up.
  static std::optional<KeyPath> absolute(std::string_view key, const Place& place) {
    size_t dots = 0;
    while (dots < key.size() && key[dots] == '.') ++dots;
    auto path = split_key(key.substr(dots));
    if (!path || dots > place.path.size()) return std::nullopt;
    if (dots == 0) return path;
    KeyPath whole(place.path.begin(), place.path.end() - static_cast<std::ptrdiff_t>(dots));
    whole.insert(whole.end(), path->begin(), path->end());
    return whole;
  }

  // None if there is no such key. The path to it may itself contain an interpolation.
  std::optional<ConfigNode> value_at(const KeyPath& path) {
    const ConfigNode* node = &tree_.root;
    for (size_t i = 0; i <= path.size(); ++i) {
      const KeyPath so_far(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i));
      const std::span rest(path.begin() + static_cast<std::ptrdiff_t>(i), path.end());
      const bool refers = node->is_scalar() && has_interpolation(node->text);
      if (refers || rest.empty()) {
        const ConfigNode resolved = resolve(*node, so_far);
        const ConfigNode* found = find_path(resolved, rest);
        return found == nullptr ? std::nullopt : std::optional<ConfigNode>(*found);
      }
      node = find_path(*node, rest.first(1));
      if (node == nullptr) break;
    }
    return std::nullopt;
  }

  using Handler = ConfigNode (Interpolation::*)(const FunctionCall&, std::string_view,
                                                const Place&);
  struct Function {
    std::string_view name;
    Handler handler;
  };

  ConfigNode called(const FunctionCall& call, std::string_view expression, const Place& place) {
    static constexpr std::array kFunctions = {
        Function{"oc.env", &Interpolation::environment_variable},
        Function{"oc.select", &Interpolation::select},
        Function{"now", &Interpolation::now},
        Function{"hydra", &Interpolation::hydra},
        Function{"llmprof", &Interpolation::llmprof},
    };
    std::vector<std::string> names;
    for (const Function& function : kFunctions) {
      if (function.name == call.name) return (this->*function.handler)(call, expression, place);
      names.emplace_back(function.name);
    }
    const std::string hint = did_you_mean(call.name, names);
    refuse(
        place, expression,
        fmt::format("unknown function '{}'{} {}", call.name,
                    hint.empty() ? "; available:" : hint + " Available:", fmt::join(names, ", ")));
  }

  // Arguments are evaluated when they are needed: an unused default may be invalid.
  ConfigNode argument(const FunctionCall& call, size_t index, const Place& place) {
    const std::string& written = call.arguments[index];
    if (const auto text = unquoted(written)) return ConfigNode::scalar(text_of(*text, place), true);
    return written == "null" ? ConfigNode() : expanded(written, place);
  }

  ConfigNode environment_variable(const FunctionCall& call, std::string_view expression,
                                  const Place& place) {
    const std::string name = argument(call, 0, place).text;
    if (context_.environment) {
      if (auto value = context_.environment(name)) return ConfigNode::scalar(std::move(*value));
    }
    if (call.arguments.size() > 1) return argument(call, 1, place);
    refuse(place, expression,
           fmt::format("environment variable {0} is not set; set it, or give a default: "
                       "${{oc.env:{0},DEFAULT}}",
                       to_printable(name)));
  }

  ConfigNode select(const FunctionCall& call, std::string_view expression, const Place& place) {
    const std::string key = argument(call, 0, place).text;
    if (auto value = value_at(key, expression, place)) return std::move(*value);
    return call.arguments.size() > 1 ? argument(call, 1, place) : ConfigNode();
  }

  ConfigNode now(const FunctionCall& call, std::string_view /*expression*/, const Place& place) {
    return ConfigNode::scalar(time_text(now_, argument(call, 0, place).text), true);
  }

  [[nodiscard]] const GroupChoice* find_choice(std::string_view group) const {
    const auto found = std::ranges::find(choices_, group, &GroupChoice::group);
    return found == choices_.end() ? nullptr : &*found;
  }

  // Hydra's information about itself; the rest is in the tree's key `hydra`.
  ConfigNode hydra(const FunctionCall& call, std::string_view expression, const Place& place) {
    constexpr std::string_view kChoices = "runtime.choices.";
    const std::string key = argument(call, 0, place).text;
    if (key == "runtime.cwd") return ConfigNode::scalar(context_.working_folder);
    if (key.starts_with(kChoices)) {
      const GroupChoice* choice = find_choice(key.substr(kChoices.size()));
      if (choice != nullptr) return ConfigNode::scalar(choice->choice);
    } else if (const auto path = split_key("hydra." + key)) {
      if (auto value = value_at(*path)) return std::move(*value);
    }
    refuse(place, expression,
           "is unknown; available: runtime.cwd, runtime.choices.GROUP and the keys of hydra");
  }

  ConfigNode llmprof(const FunctionCall& call, std::string_view expression, const Place& place) {
    const std::string what = argument(call, 0, place).text;
    const size_t given = call.arguments.size();
    if (what == "home" && given == 1) return ConfigNode::scalar(context_.home);
    if (what == "bin" && given == 1) return ConfigNode::scalar(context_.bin);
    if (what == "json" && given == 2) return as_json(value_of_key(call.arguments[1], place));
    if (what == "option" && given == 3) return option(call, place);
    if (what == "is_gpu" && given == 2) {
      const bool cpu = value_of_key(call.arguments[1], place).text == "cpu";
      return ConfigNode::scalar(cpu ? "false" : "true");
    }
    refuse(place, expression,
           "is unknown; available: llmprof:home, llmprof:bin, llmprof:json,KEY, "
           "llmprof:is_gpu,KEY and llmprof:option,FLAG,KEY");
  }

  static ConfigNode as_json(const ConfigNode& value) {
    return ConfigNode::scalar(to_json(value), true);
  }

  // [FLAG, value], or [] if the value is null: for argument lists. A map is passed as JSON.
  ConfigNode option(const FunctionCall& call, const Place& place) {
    ConfigNode flag = argument(call, 1, place);
    ConfigNode value = value_of_key(call.arguments[2], place);
    if (value.is_map() || value.is_list()) value = as_json(value);
    ConfigNode list;
    list.kind = ConfigNode::Kind::list;
    if (!value.is_null()) list.children = {std::move(flag), std::move(value)};
    return list;
  }

  const ConfigDocument& tree_;
  std::span<const GroupChoice> choices_;
  const ComposeContext& context_;
  std::tm now_;  // the same time for the entire tree
  bool groups_are_choices_ = false;
  std::vector<Active> active_;
  size_t nodes_ = 0;
  size_t depth_ = 0;
  size_t text_ = 0;
};

}  // namespace

ConfigNode interpolated(const ConfigDocument& tree, std::span<const GroupChoice> choices,
                        const ComposeContext& context) {
  return Interpolation(tree, choices, context).resolve(tree.root, {});
}

std::string interpolated_choice(const ConfigDocument& tree, const ConfigNode& scalar,
                                std::span<const GroupChoice> choices,
                                const ComposeContext& context) {
  Interpolation interpolation(tree, choices, context);
  interpolation.let_groups_stand_for_choices();
  ConfigNode value = interpolation.resolve(scalar, {});
  if (!value.is_scalar()) tree.refuse(scalar, "does not resolve to the name of a choice");
  return std::move(value.text);
}

}  // namespace llmprof::config
