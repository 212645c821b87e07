#include "analysis/naming/kernel_rules_file.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::analysis {
namespace {

constexpr std::array<std::string_view, 4> kSections = {"rules", "traits", "libraries",
                                                       "operations"};
constexpr std::array<std::string_view, 4> kWays = {"function", "prefix", "contains", "regex"};
constexpr std::array<std::string_view, 7> kKeys = {"function", "prefix", "contains", "regex",
                                                   "library",  "class",  "name"};

class RulesReader {
 public:
  RulesReader(std::string_view file, KernelRulesFile& into) : file_(file), into_(into) {}

  Result<void> run(const config::ConfigNode& root) {
    if (!root.is_map()) {
      return wrong(root, "expected 'rules:' with a list of rules (see the shipped kernels.yaml)");
    }
    for (size_t i = 0; i < root.keys.size(); ++i) {
      const std::string& section = root.keys[i];
      const config::ConfigNode& content = root.children[i];
      if (auto known = check_key(content, section, kSections); !known) return known;
      auto read = section == "rules"       ? rules(content)
                  : section == "traits"    ? traits(content)
                  : section == "libraries" ? libraries(content)
                                           : operations(content);
      if (!read) return read;
    }
    return {};
  }

 private:
  [[nodiscard]] std::string place(const config::ConfigNode& node) const {
    std::string text = fmt::format("{}:{}", file_, node.line);
    if (rule_ > 0) text += fmt::format(": rule {}", rule_);
    return text;
  }

  tl::unexpected<Error> wrong(const config::ConfigNode& node, std::string_view what) const {
    return fail(ErrorKind::usage, fmt::format("{}: {}", place(node), what));
  }

  [[nodiscard]] Result<void> check_key(const config::ConfigNode& node, std::string_view key,
                                       std::span<const std::string_view> known) const {
    if (std::find(known.begin(), known.end(), key) != known.end()) return {};
    return wrong(node, config::unknown_word("key", key, known));
  }

  Result<void> rules(const config::ConfigNode& list) {
    if (list.is_null()) return {};
    if (!list.is_list()) return wrong(list, "'rules' must be a list");
    for (const config::ConfigNode& node : list.children) {
      ++rule_;
      if (auto read = rule(node); !read) return read;
    }
    rule_ = 0;
    return {};
  }

  Result<void> rule(const config::ConfigNode& node) {
    if (!node.is_map()) return wrong(node, "a rule must be a map with a match, library and class");
    KernelRule rule;
    rule.place = place(node);
    int ways = 0;
    for (size_t i = 0; i < node.keys.size(); ++i) {
      if (auto known = check_key(node.children[i], node.keys[i], kKeys); !known) return known;
      for (const std::string_view way : kWays) ways += node.keys[i] == way ? 1 : 0;
    }
    if (ways != 1) {
      return wrong(node, "needs exactly one of function, prefix, contains, regex");
    }
    const config::ConfigNode* kernel_class = node.find("class");
    if (kernel_class == nullptr || !kernel_class->is_scalar()) {
      return wrong(node, "has no 'class'");
    }
    if (auto read = optional_text(node, "library", rule.library); !read) return read;
    if (auto read = optional_text(node, "name", rule.name); !read) return read;
    rule.library = to_printable(rule.library);
    if (auto read = read_class(*kernel_class, rule); !read) return read;
    if (auto read = expression(node, rule); !read) return read;
    into_.rules.push_back(std::move(rule));
    return {};
  }

  Result<void> optional_text(const config::ConfigNode& node, const char* key,
                             std::string& into) const {
    const config::ConfigNode* value = node.find(key);
    if (value == nullptr) return {};
    if (!value->is_scalar()) return wrong(*value, fmt::format("'{}' must be a string", key));
    into = value->text;
    return {};
  }

  Result<void> read_class(const config::ConfigNode& node, KernelRule& rule) const {
    if (node.text == kByFusedOperations) return {};
    const auto known = profile::find_word<KernelClass>(node.text);
    if (!known)
      return wrong(node, config::unknown_word("class", node.text, profile::kNames<KernelClass>));
    rule.kernel_class = known;
    return {};
  }

  Result<void> expression(const config::ConfigNode& node, KernelRule& rule) const {
    if (const config::ConfigNode* regex = node.find("regex")) {
      if (!is_text(*regex)) return wrong(*regex, "'regex' must be a non-empty string");
      rule.expression = regex->text;
      return {};
    }
    const config::ConfigNode* function = node.find("function");
    const config::ConfigNode* prefix = node.find("prefix");
    const config::ConfigNode* list = function != nullptr ? function
                                     : prefix != nullptr ? prefix
                                                         : node.find("contains");
    if (!list->is_list() || list->children.empty()) {
      return wrong(*list,
                   "function, prefix and contains take a list of strings, e.g. [gemm_a, gemm_b]");
    }
    std::string alternatives;
    for (const config::ConfigNode& item : list->children) {
      if (!is_text(item)) return wrong(item, "a match must be a non-empty string");
      if (!alternatives.empty()) alternatives += '|';
      alternatives += RE2::QuoteMeta(item.text);
    }
    if (list == function) {
      rule.expression = fmt::format("^(?:[^<]*::)?(?:{})(?:<|$)", alternatives);
    } else if (list == prefix) {
      rule.expression = fmt::format("^(?:{})", alternatives);
    } else {
      rule.expression = fmt::format("(?:{})", alternatives);
    }
    return {};
  }

  Result<void> traits(const config::ConfigNode& map) {
    if (map.is_null()) return {};
    if (!map.is_map()) return wrong(map, "'traits' must be a map of trait: [expressions]");
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (auto known = check_key(map.children[i], map.keys[i], profile::kNames<KernelTrait>);
          !known)
        return known;
      if (!map.children[i].is_list()) {
        return wrong(map.children[i], "a trait must be 'name: [expression, expression]'");
      }
      for (const config::ConfigNode& item : map.children[i].children) {
        if (!is_text(item)) return wrong(item, "an expression must be a non-empty string");
        into_.traits.push_back(
            {*profile::find_word<KernelTrait>(map.keys[i]), item.text, place(item)});
      }
    }
    return {};
  }

  Result<void> libraries(const config::ConfigNode& map) {
    if (map.is_null()) return {};
    if (!map.is_map()) return wrong(map, "'libraries' must be a map of library: [prefixes]");
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i].empty() || !map.children[i].is_list()) {
        return wrong(map.children[i], "a library must be 'name: [prefix, prefix]'");
      }
      for (const config::ConfigNode& prefix : map.children[i].children) {
        if (!is_text(prefix)) return wrong(prefix, "a prefix must be a non-empty string");
        into_.libraries.push_back({prefix.text, to_printable(map.keys[i])});
      }
    }
    return {};
  }

  Result<void> operations(const config::ConfigNode& map) {
    if (map.is_null()) return {};
    if (!map.is_map()) return wrong(map, "'operations' must be a map of identifier: word");
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i].empty() || !map.children[i].is_scalar()) {
        return wrong(map.children[i], "an operation must be 'identifier: word'");
      }
      into_.operations.emplace(map.keys[i], to_printable(map.children[i].text));
    }
    return {};
  }

  static bool is_text(const config::ConfigNode& node) {
    return node.is_scalar() && !node.text.empty();
  }

  std::string_view file_;
  KernelRulesFile& into_;
  size_t rule_ = 0;
};

}  // namespace

Result<void> read_kernel_rules(const config::ConfText& source, KernelRulesFile& into) {
  const auto document = config::parse_yaml(source.text, source.name);
  if (!document) return fail_with(document.error());
  const size_t before = into.rules.size();
  if (auto read = RulesReader(source.name, into).run(document->root); !read) return read;
  const auto built_in = config::built_in_conf("kernels.yaml");
  const bool shipped = built_in && built_in->text == source.text;
  for (size_t i = before; i < into.rules.size(); ++i) into.rules[i].shipped = shipped;
  return {};
}

}  // namespace llmprof::analysis
