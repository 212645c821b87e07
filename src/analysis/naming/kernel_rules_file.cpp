#include "analysis/naming/kernel_rules_file.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <span>

#include "base/text.h"

namespace llmprof {
namespace {

constexpr std::array<std::string_view, 3> kSections = {"rules", "libraries", "operations"};
constexpr std::array<std::string_view, 4> kWays = {"function", "prefix", "contains", "regex"};
constexpr std::array<std::string_view, 7> kKeys = {"function", "prefix", "contains", "regex",
                                                   "library",  "class",  "name"};

class RulesReader {
 public:
  RulesReader(const KernelRulesText& source, KernelRulesFile& into)
      : source_(source), into_(into) {}

  Result<void> run(const YAML::Node& root) {
    if (!root.IsMap()) {
      return wrong(root, "expected 'rules:' with a list of rules (see the shipped kernels.yaml)");
    }
    for (const auto& entry : root) {
      const std::string section = scalar(entry.first);
      if (auto known = check_key(entry.first, section, kSections); !known) return known;
      auto read = section == "rules"       ? rules(entry.second)
                  : section == "libraries" ? libraries(entry.second)
                                           : operations(entry.second);
      if (!read) return read;
    }
    return {};
  }

 private:
  static std::string scalar(const YAML::Node& node) {
    return node.IsScalar() ? node.Scalar() : std::string();
  }

  [[nodiscard]] std::string place(const YAML::Node& node) const {
    std::string text = fmt::format("{}:{}", source_.name, node.Mark().line + 1);
    if (rule_ > 0) text += fmt::format(": rule {}", rule_);
    return text;
  }

  tl::unexpected<Error> wrong(const YAML::Node& node, std::string_view what) const {
    return fail(ErrorKind::usage, fmt::format("{}: {}", place(node), what));
  }

  [[nodiscard]] Result<void> check_key(const YAML::Node& node, std::string_view key,
                                       std::span<const std::string_view> known) const {
    for (const std::string_view candidate : known) {
      if (key == candidate) return {};
    }
    const auto close = nearest(key, known);
    return wrong(
        node, close ? fmt::format("unknown key '{}'; did you mean '{}'?", key, *close)
                    : fmt::format("unknown key '{}'; known are {}", key, fmt::join(known, ", ")));
  }

  Result<void> rules(const YAML::Node& list) {
    if (list.IsNull()) return {};
    if (!list.IsSequence()) return wrong(list, "'rules' must be a list");
    for (const YAML::Node& node : list) {
      ++rule_;
      if (auto read = rule(node); !read) return read;
    }
    rule_ = 0;
    return {};
  }

  Result<void> rule(const YAML::Node& node) {
    if (!node.IsMap()) return wrong(node, "a rule must be a map with a match, library and class");
    KernelRule rule;
    rule.place = place(node);
    int ways = 0;
    for (const auto& entry : node) {
      const std::string key = scalar(entry.first);
      if (auto known = check_key(entry.first, key, kKeys); !known) return known;
      for (const std::string_view way : kWays) ways += key == way ? 1 : 0;
    }
    if (ways != 1) {
      return wrong(node, "needs exactly one of function, prefix, contains, regex");
    }
    if (!node["class"] || !node["class"].IsScalar()) return wrong(node, "has no 'class'");
    if (auto read = optional_text(node, "library", rule.library); !read) return read;
    if (auto read = optional_text(node, "name", rule.name); !read) return read;
    rule.library = to_printable(rule.library);
    if (auto read = read_class(node["class"], rule); !read) return read;
    if (auto read = expression(node, rule); !read) return read;
    into_.rules.push_back(std::move(rule));
    return {};
  }

  Result<void> optional_text(const YAML::Node& node, const char* key, std::string& into) const {
    const YAML::Node value = node[key];
    if (!value) return {};
    if (!value.IsScalar()) return wrong(value, fmt::format("'{}' must be a text", key));
    into = value.Scalar();
    return {};
  }

  Result<void> read_class(const YAML::Node& node, KernelRule& rule) const {
    const auto known = parse_kernel_class(node.Scalar());
    if (!known) {
      const auto close = nearest(node.Scalar(), all_classes());
      return wrong(
          node, close ? fmt::format("unknown class '{}'; did you mean '{}'?", node.Scalar(), *close)
                      : fmt::format("unknown class '{}'; the classes are {}", node.Scalar(),
                                    fmt::join(all_classes(), ", ")));
    }
    rule.kernel_class = *known;
    return {};
  }

  Result<void> expression(const YAML::Node& node, KernelRule& rule) const {
    if (const YAML::Node regex = node["regex"]) {
      if (!regex.IsScalar() || regex.Scalar().empty()) {
        return wrong(regex, "'regex' must be a text that is not empty");
      }
      rule.expression = regex.Scalar();
      return {};
    }
    const YAML::Node list = node["function"] ? node["function"]
                            : node["prefix"] ? node["prefix"]
                                             : node["contains"];
    std::string alternatives;
    for (const YAML::Node& item : list) {
      if (!item.IsScalar() || item.Scalar().empty()) {
        return wrong(item, "a match must be a text that is not empty");
      }
      if (!alternatives.empty()) alternatives += '|';
      alternatives += RE2::QuoteMeta(item.Scalar());
    }
    if (alternatives.empty()) {
      return wrong(list,
                   "function, prefix and contains take a list of texts, e.g. [gemm_a, gemm_b]");
    }
    if (node["function"]) {
      rule.expression = fmt::format("^(?:[^<]*::)?(?:{})(?:<|$)", alternatives);
    } else if (node["prefix"]) {
      rule.expression = fmt::format("^(?:{})", alternatives);
    } else {
      rule.expression = fmt::format("(?:{})", alternatives);
    }
    return {};
  }

  Result<void> libraries(const YAML::Node& map) {
    if (map.IsNull()) return {};
    if (!map.IsMap()) return wrong(map, "'libraries' must be a map of library: [prefixes]");
    for (const auto& entry : map) {
      if (!entry.first.IsScalar() || !entry.second.IsSequence()) {
        return wrong(entry.first, "a library must be 'name: [prefix, prefix]'");
      }
      for (const YAML::Node& prefix : entry.second) {
        if (!prefix.IsScalar() || prefix.Scalar().empty()) {
          return wrong(prefix, "a prefix must be a text that is not empty");
        }
        into_.libraries.push_back({prefix.Scalar(), to_printable(entry.first.Scalar())});
      }
    }
    return {};
  }

  Result<void> operations(const YAML::Node& map) {
    if (map.IsNull()) return {};
    if (!map.IsMap()) return wrong(map, "'operations' must be a map of identifier: word");
    for (const auto& entry : map) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        return wrong(entry.first, "an operation must be 'identifier: word'");
      }
      into_.operations.emplace(entry.first.Scalar(), to_printable(entry.second.Scalar()));
    }
    return {};
  }

  const KernelRulesText& source_;
  KernelRulesFile& into_;
  size_t rule_ = 0;
};

}  // namespace

Result<void> read_kernel_rules(const KernelRulesText& source, KernelRulesFile& into) {
  try {
    const YAML::Node root = YAML::Load(source.text);
    return RulesReader(source, into).run(root);
  } catch (const YAML::Exception& broken) {
    const std::string place = broken.mark.is_null()
                                  ? source.name
                                  : fmt::format("{}:{}", source.name, broken.mark.line + 1);
    return fail(ErrorKind::usage, fmt::format("{}: not valid YAML: {}", place, broken.msg));
  }
}

}  // namespace llmprof
