#include "config/interpolation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.h"
#include "config/interpolation_text.h"
#include "config/tree_path.h"
#include "config/tree_text.h"

namespace llmprof::config {
namespace {

// References can multiply what they refer to: beyond these a configuration is refused.
constexpr size_t kMostResolvedNodes = 200'000;
constexpr size_t kMostText = 16UL << 20U;
constexpr size_t kDeepestReference = 200;
constexpr std::string_view kMandatory = "???";

ConfigNode scalar_node(std::string text, bool quoted = false) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

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

  // Then `${group}` stands for the group's choice.
  void let_groups_stand_for_choices() { groups_are_choices_ = true; }

  Result<ConfigNode> resolve(const ConfigNode& node, const KeyPath& path) {
    if (++nodes_ > kMostResolvedNodes || text_ > kMostText || active_.size() > kDeepestReference) {
      return tree_.wrong(node, "interpolations expand without limit here");
    }
    const auto again =
        std::ranges::find_if(active_, [&](const Active& one) { return one.node == &node; });
    if (again != active_.end()) return loop(node, again - active_.begin());
    active_.push_back({&node, fmt::format("{}", fmt::join(path, "."))});
    auto resolved = node.children.empty() ? resolve_scalar(node, path) : children(node, path);
    active_.pop_back();
    return resolved;
  }

 private:
  struct Active {
    const ConfigNode* node;
    std::string path;
  };
  // Where an expression stands: the scalar for messages, its path for relative keys.
  struct Place {
    const ConfigNode& node;
    const KeyPath& path;
  };

  [[nodiscard]] tl::unexpected<Error> loop(const ConfigNode& node, std::ptrdiff_t first) const {
    std::string way;
    for (auto at = active_.begin() + first; at != active_.end(); ++at) way += at->path + " -> ";
    return tree_.wrong(node, fmt::format("circular interpolation: {}{}", way,
                                         active_[static_cast<size_t>(first)].path));
  }

  Result<ConfigNode> children(const ConfigNode& node, const KeyPath& path) {
    ConfigNode resolved = node;
    for (size_t i = 0; i < node.children.size(); ++i) {
      KeyPath below = path;
      below.push_back(node.is_map() ? node.keys[i] : std::to_string(i));
      auto child = resolve(node.children[i], below);
      if (!child) return child;
      resolved.children[i] = std::move(*child);
    }
    return resolved;
  }

  Result<ConfigNode> resolve_scalar(const ConfigNode& node, const KeyPath& path) {
    if (!node.is_scalar()) return node;
    text_ += node.text.size();
    if (node.text == kMandatory && !node.quoted) {
      return tree_.wrong(
          node, fmt::format("'{0}' has no value; give it one: {0}=VALUE", fmt::join(path, ".")));
    }
    if (!has_interpolation(node.text)) return node;
    auto value = expanded(node.text, {node, path});
    if (!value) return value;
    if (!value->source) {
      value->source = node.source;
      value->line = node.line;
    }
    return value;
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const Place& place, std::string_view expression,
                                            std::string_view what) const {
    return tree_.wrong(place.node, fmt::format("${{{}}}: {}", to_printable(expression), what));
  }

  // A text that is one interpolation is whatever that stands for; others are put together.
  Result<ConfigNode> expanded(std::string_view text, const Place& place) {
    const auto pieces = split_interpolations(text);
    if (!pieces) {
      return tree_.wrong(place.node,
                         fmt::format("'{}' has a '${{' without its '}}'", to_printable(text)));
    }
    if (pieces->size() == 1 && pieces->front().interpolation) {
      return evaluated(pieces->front().text, place);
    }
    ConfigNode joined = scalar_node({}, true);
    for (const TextPiece& piece : *pieces) {
      if (!piece.interpolation) {
        joined.text += piece.text;
        continue;
      }
      auto value = evaluated(piece.text, place);
      if (!value) return value;
      if (value->is_map() || value->is_list()) {
        return wrong(place, piece.text, "is a map or a list, which cannot be part of a string");
      }
      joined.text += value->is_null() ? "null" : value->text;
    }
    // "1${x}" may well be a count.
    joined.quoted = !joined.number() && !joined.boolean();
    text_ += joined.text.size();
    return joined;
  }

  Result<std::string> text_of(std::string_view text, const Place& place) {
    auto value = expanded(text, place);
    if (!value) return fail_with(value.error());
    if (value->is_map() || value->is_list()) {
      return wrong(place, text, "is a map or a list where a string is expected");
    }
    return std::move(value->text);
  }

  Result<ConfigNode> evaluated(std::string_view expression, const Place& place) {
    if (++nodes_ > kMostResolvedNodes || ++depth_ > kDeepestReference) {
      return wrong(place, shortened(expression, 80), "is nested too deeply");
    }
    const FunctionCall call = split_function(expression);
    auto value =
        call.name.empty() ? value_of_key(expression, place) : called(call, expression, place);
    --depth_;
    return value;
  }

  Result<ConfigNode> value_of_key(std::string_view expression, const Place& place) {
    auto key = text_of(trim(expression), place);
    if (!key) return fail_with(key.error());
    if (groups_are_choices_ && !contains(*key, ".")) {
      if (const GroupChoice* choice = find_choice(*key)) return scalar_node(choice->choice);
    }
    auto value = value_at(*key, expression, place);
    if (!value) return fail_with(value.error());
    if (*value) return std::move(**value);
    const std::string dotted = fmt::format("{}", fmt::join(*absolute(*key, place), "."));
    return wrong(place, expression,
                 fmt::format("there is no key '{}'{}", dotted,
                             did_you_mean(nearest_key(tree_.root, dotted))));
  }

  // None where there is no such key.
  Result<std::optional<ConfigNode>> value_at(const std::string& key, std::string_view expression,
                                             const Place& place) {
    const auto path = absolute(key, place);
    if (path) return value_at(*path);
    return wrong(place, expression, fmt::format("'{}' is not a valid key", to_printable(key)));
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

  // None where there is no such key. What leads to it may be an interpolation itself.
  Result<std::optional<ConfigNode>> value_at(const KeyPath& path) {
    const ConfigNode* node = &tree_.root;
    for (size_t i = 0; i <= path.size(); ++i) {
      const KeyPath so_far(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i));
      const std::span rest(path.begin() + static_cast<std::ptrdiff_t>(i), path.end());
      const bool refers = node->is_scalar() && has_interpolation(node->text);
      if (refers || rest.empty()) {
        auto resolved = resolve(*node, so_far);
        if (!resolved) return fail_with(resolved.error());
        const ConfigNode* found = find_path(*resolved, rest);
        return found == nullptr ? std::nullopt : std::optional<ConfigNode>(*found);
      }
      node = find_path(*node, rest.first(1));
      if (node == nullptr) break;
    }
    return std::optional<ConfigNode>();
  }

  // Functions -------------------------------------------------------------------------------------

  using Handler = Result<ConfigNode> (Interpolation::*)(const FunctionCall&, std::string_view,
                                                        const Place&);
  struct Function {
    std::string_view name;
    Handler handler;
  };

  Result<ConfigNode> called(const FunctionCall& call, std::string_view expression,
                            const Place& place) {
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
    return wrong(
        place, expression,
        fmt::format("unknown function '{}'{} {}", call.name,
                    hint.empty() ? "; available:" : hint + " Available:", fmt::join(names, ", ")));
  }

  // Arguments are looked at when they are needed: a default that is not needed may be wrong.
  Result<ConfigNode> argument(const FunctionCall& call, size_t index, const Place& place) {
    const std::string& written = call.arguments[index];
    if (auto text = unquoted(written)) {
      auto value = text_of(*text, place);
      if (!value) return fail_with(value.error());
      return scalar_node(std::move(*value), true);
    }
    if (written == "null") return ConfigNode();
    return expanded(written, place);
  }

  Result<std::string> argument_text(const FunctionCall& call, size_t index, const Place& place) {
    auto value = argument(call, index, place);
    if (!value) return fail_with(value.error());
    return std::move(value->text);
  }

  Result<ConfigNode> environment_variable(const FunctionCall& call, std::string_view expression,
                                          const Place& place) {
    const auto name = argument_text(call, 0, place);
    if (!name) return fail_with(name.error());
    if (context_.environment) {
      if (auto value = context_.environment(*name)) return scalar_node(std::move(*value));
    }
    if (call.arguments.size() > 1) return argument(call, 1, place);
    return wrong(place, expression,
                 fmt::format("environment variable {0} is not set; set it, or give a default: "
                             "${{oc.env:{0},DEFAULT}}",
                             to_printable(*name)));
  }

  Result<ConfigNode> select(const FunctionCall& call, std::string_view expression,
                            const Place& place) {
    const auto key = argument_text(call, 0, place);
    if (!key) return fail_with(key.error());
    auto value = value_at(*key, expression, place);
    if (!value) return fail_with(value.error());
    if (*value) return std::move(**value);
    return call.arguments.size() > 1 ? argument(call, 1, place) : ConfigNode();
  }

  Result<ConfigNode> now(const FunctionCall& call, std::string_view /*expression*/,
                         const Place& place) {
    const auto format = argument_text(call, 0, place);
    if (!format) return fail_with(format.error());
    return scalar_node(time_text(now_, *format), true);
  }

  [[nodiscard]] const GroupChoice* find_choice(std::string_view group) const {
    for (const GroupChoice& choice : choices_) {
      if (choice.group == group) return &choice;
    }
    return nullptr;
  }

  // What Hydra knows of itself; the rest of it is the key `hydra` of the tree.
  Result<ConfigNode> hydra(const FunctionCall& call, std::string_view expression,
                           const Place& place) {
    constexpr std::string_view kChoices = "runtime.choices.";
    const auto key = argument_text(call, 0, place);
    if (!key) return fail_with(key.error());
    if (*key == "runtime.cwd") return scalar_node(context_.working_folder);
    if (key->starts_with(kChoices)) {
      const GroupChoice* choice = find_choice(key->substr(kChoices.size()));
      if (choice != nullptr) return scalar_node(choice->choice);
    } else if (const auto path = split_key("hydra." + *key)) {
      auto value = value_at(*path);
      if (!value) return fail_with(value.error());
      if (*value) return std::move(**value);
    }
    return wrong(place, expression,
                 "is unknown; available: runtime.cwd, runtime.choices.GROUP and the keys of hydra");
  }

  Result<ConfigNode> llmprof(const FunctionCall& call, std::string_view expression,
                             const Place& place) {
    const auto what = argument_text(call, 0, place);
    if (!what) return fail_with(what.error());
    const size_t given = call.arguments.size();
    if (*what == "home" && given == 1) return scalar_node(context_.home);
    if (*what == "bin" && given == 1) return scalar_node(context_.bin);
    if (*what == "json" && given == 2) {
      auto value = value_of_key(call.arguments[1], place);
      return value ? Result<ConfigNode>(as_json(*value)) : value;
    }
    if (*what == "option" && given == 3) return option(call, place);
    if (*what == "is_gpu" && given == 2) {
      auto device = value_of_key(call.arguments[1], place);
      return device ? scalar_node(device->text == "cpu" ? "false" : "true") : device;
    }
    return wrong(place, expression,
                 "is unknown; available: llmprof:home, llmprof:bin, llmprof:json,KEY, "
                 "llmprof:is_gpu,KEY and llmprof:option,FLAG,KEY");
  }

  static ConfigNode as_json(const ConfigNode& value) { return scalar_node(to_json(value), true); }

  // [FLAG, value], or [] where the value is null: for lists of arguments. A map goes as JSON.
  Result<ConfigNode> option(const FunctionCall& call, const Place& place) {
    auto flag = argument(call, 1, place);
    if (!flag) return flag;
    auto value = value_of_key(call.arguments[2], place);
    if (!value) return value;
    if (value->is_map() || value->is_list()) value = as_json(*value);
    ConfigNode list;
    list.kind = ConfigNode::Kind::list;
    if (!value->is_null()) list.children = {std::move(*flag), std::move(*value)};
    return list;
  }

  const ConfigDocument& tree_;
  std::span<const GroupChoice> choices_;
  const ComposeContext& context_;
  std::tm now_;  // one time for all of the tree
  bool groups_are_choices_ = false;
  std::vector<Active> active_;
  size_t nodes_ = 0;
  size_t depth_ = 0;
  size_t text_ = 0;
};

}  // namespace

Result<ConfigNode> interpolated(const ConfigDocument& tree, std::span<const GroupChoice> choices,
                                const ComposeContext& context) {
  return Interpolation(tree, choices, context).resolve(tree.root, {});
}

Result<std::string> interpolated_choice(const ConfigDocument& tree, const ConfigNode& scalar,
                                        std::span<const GroupChoice> choices,
                                        const ComposeContext& context) {
  Interpolation interpolation(tree, choices, context);
  interpolation.let_groups_stand_for_choices();
  auto value = interpolation.resolve(scalar, {});
  if (!value) return fail_with(value.error());
  if (!value->is_scalar()) return tree.wrong(scalar, "does not resolve to the name of a choice");
  return std::move(value->text);
}

}  // namespace llmprof::config
