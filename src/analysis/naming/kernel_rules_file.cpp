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

bool is_text(const config::ConfigNode& node) { return node.is_scalar() && !node.text.empty(); }

// Keeps the first mistake, so that callers check only once, at the end.
class RulesReader {
 public:
  RulesReader(std::string_view file, KernelRulesFile& into) : file_(file), into_(into) {}

  Result<void> run(const config::ConfigNode& root) {
    if (!root.is_map()) {
      wrong(root, "expected 'rules:' with a list of rules (see the shipped kernels.yaml)");
    }
    for (size_t i = 0; i < root.keys.size() && !error_; ++i) {
      const std::string& section = root.keys[i];
      const config::ConfigNode& content = root.children[i];
      check_key(content, section, kSections);
      if (content.is_null()) continue;
      if (section == "rules") rules(content);
      if (section == "traits") traits(content);
      if (section == "libraries") libraries(content);
      if (section == "operations") operations(content);
    }
    if (error_) return fail_with(*error_);
    return {};
  }

 private:
  [[nodiscard]] std::string place(const config::ConfigNode& node) const {
    std::string text = fmt::format("{}:{}", file_, node.line);
    if (rule_ > 0) text += fmt::format(": rule {}", rule_);
    return text;
  }
  void wrong(const config::ConfigNode& node, std::string_view what) {
    if (!error_) error_ = Error{ErrorKind::usage, fmt::format("{}: {}", place(node), what)};
  }
  void check_key(const config::ConfigNode& node, std::string_view key,
                 std::span<const std::string_view> known) {
    if (std::ranges::find(known, key) != known.end()) return;
    wrong(node, config::unknown_word("key", key, known));
  }

  void rules(const config::ConfigNode& list) {
    if (!list.is_list()) wrong(list, "'rules' must be a list");
    for (const config::ConfigNode& node : list.children) {
      ++rule_;
      rule(node);
    }
    rule_ = 0;
  }

  void rule(const config::ConfigNode& node) {
    if (!node.is_map()) return wrong(node, "a rule must be a map with a match, library and class");
    KernelRule& rule = into_.rules.emplace_back();
    rule.place = place(node);
    std::ptrdiff_t ways = 0;
    for (size_t i = 0; i < node.keys.size(); ++i) {
      check_key(node.children[i], node.keys[i], kKeys);
      ways += std::ranges::count(kWays, node.keys[i]);
    }
    if (ways != 1) return wrong(node, "needs exactly one of function, prefix, contains, regex");
    const config::ConfigNode* kernel_class = node.find("class");
    if (kernel_class == nullptr || !kernel_class->is_scalar()) {
      return wrong(node, "has no 'class'");
    }
    rule.library = to_printable(optional_text(node, "library"));
    rule.name = optional_text(node, "name");
    rule.kernel_class = profile::find_word<KernelClass>(kernel_class->text);
    if (!rule.kernel_class && kernel_class->text != kByFusedOperations) {
      wrong(*kernel_class,
            config::unknown_word("class", kernel_class->text, profile::kNames<KernelClass>));
    }
    rule.expression = expression(node);
  }

  std::string optional_text(const config::ConfigNode& node, const char* key) {
    const config::ConfigNode* value = node.find(key);
    if (value == nullptr) return {};
    if (!value->is_scalar()) wrong(*value, fmt::format("'{}' must be a string", key));
    return value->text;
  }

  std::string expression(const config::ConfigNode& node) {
    if (const config::ConfigNode* regex = node.find("regex")) {
      if (!is_text(*regex)) wrong(*regex, "'regex' must be a non-empty string");
      return regex->text;
    }
    const config::ConfigNode* function = node.find("function");
    const config::ConfigNode* prefix = node.find("prefix");
    const config::ConfigNode* list = function != nullptr ? function
                                     : prefix != nullptr ? prefix
                                                         : node.find("contains");
    if (!list->is_list() || list->children.empty()) {
      wrong(*list, "function, prefix and contains take a list of strings, e.g. [gemm_a, gemm_b]");
    }
    std::vector<std::string> alternatives;
    for (const config::ConfigNode& item : list->children) {
      if (!is_text(item)) wrong(item, "a match must be a non-empty string");
      alternatives.push_back(RE2::QuoteMeta(item.text));
    }
    const std::string any = fmt::format("(?:{})", fmt::join(alternatives, "|"));
    if (list == function) return fmt::format("^(?:[^<]*::)?{}(?:<|$)", any);
    return list == prefix ? "^" + any : any;
  }

  // Calls visit(name, text) for each text of a map of lists. `known`: allowed names; empty: any.
  template <class Visit>
  void each_listed(const config::ConfigNode& map, std::span<const std::string_view> known,
                   std::string_view no_map, std::string_view no_list, std::string_view no_text,
                   const Visit& visit) {
    if (!map.is_map()) wrong(map, no_map);
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (!known.empty()) check_key(map.children[i], map.keys[i], known);
      if (map.keys[i].empty() || !map.children[i].is_list()) wrong(map.children[i], no_list);
      for (const config::ConfigNode& item : map.children[i].children) {
        if (!is_text(item)) wrong(item, no_text);
        visit(map.keys[i], item);
      }
    }
  }

  void traits(const config::ConfigNode& map) {
    each_listed(map, profile::kNames<KernelTrait>, "'traits' must be a map of trait: [expressions]",
                "a trait must be 'name: [expression, expression]'",
                "an expression must be a non-empty string",
                [&](const std::string& name, const config::ConfigNode& item) {
                  const auto trait = profile::find_word<KernelTrait>(name);
                  if (trait) into_.traits.push_back({*trait, item.text, place(item)});
                });
  }

  void libraries(const config::ConfigNode& map) {
    each_listed(map, {}, "'libraries' must be a map of library: [prefixes]",
                "a library must be 'name: [prefix, prefix]'", "a prefix must be a non-empty string",
                [&](const std::string& name, const config::ConfigNode& item) {
                  into_.libraries.push_back({item.text, to_printable(name)});
                });
  }

  void operations(const config::ConfigNode& map) {
    if (!map.is_map()) wrong(map, "'operations' must be a map of identifier: word");
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i].empty() || !map.children[i].is_scalar()) {
        wrong(map.children[i], "an operation must be 'identifier: word'");
      }
      into_.operations.emplace(map.keys[i], to_printable(map.children[i].text));
    }
  }

  std::string_view file_;
  KernelRulesFile& into_;
  size_t rule_ = 0;
  std::optional<Error> error_;
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
