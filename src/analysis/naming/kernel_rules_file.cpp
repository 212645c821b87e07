#include "analysis/naming/kernel_rules_file.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/needed.h"
#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::analysis {
namespace {

constexpr std::array<std::string_view, 7> kSections = {
    "rules",     "traits",          "number_formats", "collectives",
    "libraries", "fused_operators", "operations"};
constexpr std::array<std::string_view, 4> kWays = {"function", "prefix", "contains", "regex"};
constexpr std::array<std::string_view, 7> kKeys = {"function", "prefix", "contains", "regex",
                                                   "library",  "class",  "name"};

using config::ConfigNode;

bool is_text(const ConfigNode& node) { return node.is_scalar() && !node.text.empty(); }

class RulesReader {
 public:
  RulesReader(const config::ConfText& source, KernelRulesFile& into)
      : document_(needed(config::parse_yaml(source.text, source.name))), into_(into) {}

  void run() {
    const ConfigNode& root = document_.root;
    if (!root.is_map()) {
      wrong(root, "expected 'rules:' with a list of rules (see the shipped kernels.yaml)");
    }
    for (size_t i = 0; i < root.keys.size(); ++i) {
      check_key(root.children[i], root.keys[i], kSections);
      if (!root.children[i].is_null()) section(root.keys[i], root.children[i]);
    }
  }

 private:
  [[noreturn]] void wrong(const ConfigNode& node, std::string_view what) const {
    document_.refuse(node, rule_ > 0 ? fmt::format("rule {}: {}", rule_, what) : std::string(what));
  }
  void check_key(const ConfigNode& node, std::string_view key,
                 std::span<const std::string_view> known) const {
    if (std::ranges::find(known, key) == known.end()) {
      wrong(node, config::unknown_word("key", key, known));
    }
  }
  [[nodiscard]] std::string place(const ConfigNode& node) const {
    return fmt::format("{}:{}", document_.name, node.line);
  }

  void section(std::string_view name, const ConfigNode& content) {
    if (name == "rules") rules(content);
    if (name == "operations") operations(content);
    const auto add_trait = [&](decltype(TraitRule::shown) shown, const ConfigNode& item) {
      into_.traits.push_back({std::move(shown), item.text, place(item)});
    };
    if (name == "traits") {
      each_listed(content, profile::kNames<KernelTrait>, {name, "trait", "expression"},
                  [&](const std::string& trait, const ConfigNode& item) {
                    add_trait(*profile::find_word<KernelTrait>(trait), item);
                  });
    } else if (name == "number_formats") {
      each_listed(content, {}, {name, "format", "expression"},
                  [&](const std::string& format, const ConfigNode& item) {
                    add_trait(to_printable(format), item);
                  });
    } else if (name == "collectives") {
      each_listed(content, profile::kNames<CollectiveKind>, {name, "collective", "expression"},
                  [&](const std::string& kind, const ConfigNode& item) {
                    add_trait(*profile::find_word<CollectiveKind>(kind), item);
                  });
    } else if (name == "libraries") {
      each_listed(content, {}, {name, "library", "prefix"},
                  [&](const std::string& library, const ConfigNode& item) {
                    into_.libraries.push_back({item.text, to_printable(library)});
                  });
    } else if (name == "fused_operators") {
      each_listed(content, profile::kNames<OperatorRole>, {name, "role", "operator"},
                  [&](const std::string& role, const ConfigNode& item) {
                    into_.operators.roles.emplace(item.text,
                                                  *profile::find_word<OperatorRole>(role));
                  });
    }
  }

  // Words for messages: the section, one of its keys, one of the texts below it.
  struct ListWords {
    std::string_view section;
    std::string_view key;
    std::string_view item;
  };
  // Calls visit(key, item) for each text of a map of lists. `known`: allowed keys; empty: any.
  template <class Visit>
  void each_listed(const ConfigNode& map, std::span<const std::string_view> known,
                   const ListWords& words, const Visit& visit) const {
    if (!map.is_map()) {
      wrong(map, fmt::format("'{0}' must be a map of {1}: [{2}, {2}]", words.section, words.key,
                             words.item));
    }
    for (size_t i = 0; i < map.keys.size(); ++i) {
      const ConfigNode& list = map.children[i];
      if (!known.empty()) check_key(list, map.keys[i], known);
      if (map.keys[i].empty() || !list.is_list()) {
        wrong(list, fmt::format("a {0} must be 'name: [{1}, {1}]'", words.key, words.item));
      }
      for (const ConfigNode& item : list.children) {
        if (!is_text(item)) {
          wrong(item, fmt::format("each {} must be a non-empty string", words.item));
        }
        visit(map.keys[i], item);
      }
    }
  }

  void rules(const ConfigNode& list) {
    if (!list.is_list()) wrong(list, "'rules' must be a list");
    for (const ConfigNode& node : list.children) {
      ++rule_;
      rule(node);
    }
    rule_ = 0;
  }

  void rule(const ConfigNode& node) {
    if (!node.is_map()) wrong(node, "a rule must be a map with a match, library and class");
    std::ptrdiff_t ways = 0;
    for (size_t i = 0; i < node.keys.size(); ++i) {
      check_key(node.children[i], node.keys[i], kKeys);
      ways += std::ranges::count(kWays, node.keys[i]);
    }
    if (ways != 1) wrong(node, "needs exactly one of function, prefix, contains, regex");
    const ConfigNode& kernel_class = node["class"];
    if (!kernel_class.is_scalar()) wrong(node, "has no 'class'");
    KernelRule& rule = into_.rules.emplace_back();
    rule.place = fmt::format("{}: rule {}", place(node), rule_);
    rule.library = to_printable(optional_text(node, "library"));
    rule.name = optional_text(node, "name");
    rule.kernel_class = profile::find_word<KernelClass>(kernel_class.text);
    if (!rule.kernel_class && kernel_class.text != kByFusedOperations) {
      wrong(kernel_class,
            config::unknown_word("class", kernel_class.text, profile::kNames<KernelClass>));
    }
    rule.expression = expression(node);
  }

  [[nodiscard]] std::string optional_text(const ConfigNode& node, std::string_view key) const {
    const ConfigNode* value = node.find(key);
    if (value == nullptr) return {};
    if (!value->is_scalar()) wrong(*value, fmt::format("'{}' must be a string", key));
    return value->text;
  }

  [[nodiscard]] std::string expression(const ConfigNode& node) const {
    if (const ConfigNode* regex = node.find("regex")) {
      if (!is_text(*regex)) wrong(*regex, "'regex' must be a non-empty string");
      return regex->text;
    }
    const ConfigNode* function = node.find("function");
    const ConfigNode* prefix = node.find("prefix");
    const ConfigNode& list = function != nullptr ? *function
                             : prefix != nullptr ? *prefix
                                                 : node["contains"];
    if (!list.is_list() || list.children.empty()) {
      wrong(list, "function, prefix and contains take a list of strings, e.g. [gemm_a, gemm_b]");
    }
    std::vector<std::string> alternatives;
    for (const ConfigNode& item : list.children) {
      if (!is_text(item)) wrong(item, "a match must be a non-empty string");
      alternatives.push_back(RE2::QuoteMeta(item.text));
    }
    const std::string any = fmt::format("(?:{})", fmt::join(alternatives, "|"));
    if (function != nullptr) return fmt::format("^(?:[^<]*::)?{}(?:<|$)", any);
    return prefix != nullptr ? "^" + any : any;
  }

  void operations(const ConfigNode& map) {
    if (!map.is_map()) wrong(map, "'operations' must be a map of identifier: word");
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i].empty() || !map.children[i].is_scalar()) {
        wrong(map.children[i], "an operation must be 'identifier: word'");
      }
      into_.operators.words.emplace(map.keys[i], to_printable(map.children[i].text));
    }
  }

  config::ConfigDocument document_;
  KernelRulesFile& into_;
  size_t rule_ = 0;
};

}  // namespace

void read_kernel_rules(const config::ConfText& source, KernelRulesFile& into) {
  const size_t before = into.rules.size();
  RulesReader(source, into).run();
  const auto built_in = config::built_in_conf("kernels.yaml");
  const bool shipped = built_in && built_in->text == source.text;
  for (size_t i = before; i < into.rules.size(); ++i) into.rules[i].shipped = shipped;
}

}  // namespace llmprof::analysis
