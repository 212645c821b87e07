#include "analysis/stages/stage_rules_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

constexpr std::array<std::string_view, 2> kSections = {"ignored_domains", "rules"};
constexpr std::array<std::string_view, 6> kKeys = {"regex", "domain", "means",
                                                   "name",  "kind",   "speculative"};
constexpr std::array<std::string_view, 9> kMeanings = {"stage",  "step",       "engine_step",
                                                       "layer",  "layer_part", "pass_part",
                                                       "vision", "warm_up",    "nothing"};
constexpr std::array<Kind, 9> kMeaningKinds = {Kind::stage,  Kind::step,       Kind::engine_step,
                                               Kind::layer,  Kind::layer_part, Kind::pass_part,
                                               Kind::vision, Kind::warm_up,    Kind::none};
// Step kinds that a rule may name; the last one is only for detected passes.
constexpr auto kStepKinds = std::span(profile::kNames<StepKind>).first<3>();

using config::unknown_word;

class Reading {
 public:
  Reading(const config::ConfigDocument& document, StageRulesFile& into)
      : document_(document), into_(into) {}

  Result<void> run() {
    const config::ConfigNode& root = document_.root;
    if (root.is_null()) return {};
    if (!root.is_map()) return document_.wrong(root, "expected 'rules:' with a list of rules");
    if (auto known = document_.check_keys(root, kSections); !known) return known;
    for (const std::string& key : root.keys) {
      if (auto read = section(key); !read) return read;
    }
    return {};
  }

  // A list of rules or of ignored domains; a missing list is accepted.
  Result<void> section(std::string_view key) {
    const config::ConfigNode* list = document_.root.find(key);
    if (list == nullptr || list->is_null()) return {};
    if (!list->is_list()) return document_.wrong(*list, fmt::format("'{}' must be a list", key));
    return key == "ignored_domains" ? ignored_domains(*list) : rules(*list);
  }

 private:
  [[nodiscard]] std::string place(const config::ConfigNode& node) const {
    return fmt::format("{}:{}", document_.name, node.line);
  }

  Result<void> ignored_domains(const config::ConfigNode& list) {
    for (const config::ConfigNode& item : list.children) {
      if (!item.is_scalar() || item.text.empty()) {
        return document_.wrong(item, "an ignored domain must be an expression, e.g. 'CCCL|NCCL'");
      }
      into_.ignored_domains.push_back({place(item), item.text});
    }
    return {};
  }

  Result<void> rules(const config::ConfigNode& list) {
    for (size_t i = 0; i < list.children.size(); ++i) {
      const config::ConfigNode& node = list.children[i];
      if (!node.is_map()) {
        return document_.wrong(node, "a rule must be a map with 'regex' and 'means'");
      }
      StageRule rule;
      rule.place = fmt::format("{}: rule {}", place(node), i + 1);
      if (auto read = fields(node, rule); !read) return read;
      into_.rules.push_back(std::move(rule));
    }
    return {};
  }

  Result<void> fields(const config::ConfigNode& node, StageRule& rule) const {
    if (auto known = document_.check_keys(node, kKeys); !known) return known;
    for (size_t i = 0; i < node.keys.size(); ++i) {
      const config::ConfigNode& value = node.children[i];
      // `domain: ''` is the default domain; other strings must not be empty.
      if (!value.is_scalar() || (value.text.empty() && node.keys[i] != "domain")) {
        return document_.wrong(value, fmt::format("'{}' must be a string", node.keys[i]));
      }
    }
    const config::ConfigNode* regex = node.find("regex");
    const config::ConfigNode* means = node.find("means");
    if (regex == nullptr) return document_.wrong(node, "a rule needs 'regex'");
    if (means == nullptr) return document_.wrong(node, "a rule needs 'means'");
    rule.expression = regex->text;
    const auto* meaning = std::ranges::find(kMeanings, means->text);
    if (meaning == kMeanings.end()) {
      return document_.wrong(*means, unknown_word("meaning", means->text, kMeanings));
    }
    rule.means.kind = kMeaningKinds[static_cast<size_t>(meaning - kMeanings.begin())];
    if (const config::ConfigNode* domain = node.find("domain")) rule.domain = domain->text;
    rule.means.name = to_printable(node["name"].text);
    if (rule.means.kind == Kind::stage && rule.means.name.empty()) {
      return document_.wrong(node, "a stage needs 'name'");
    }
    if (const config::ConfigNode* kind = node.find("kind")) {
      rule.means.step_kind = profile::find_word<StepKind>(kind->text);
      if (!rule.means.step_kind || rule.means.step_kind == StepKind::forward) {
        return document_.wrong(*kind, unknown_word("kind", kind->text, kStepKinds));
      }
    }
    if (const config::ConfigNode* speculative = node.find("speculative")) {
      if (speculative->text != "true" && speculative->text != "false") {
        return document_.wrong(*speculative, "'speculative' must be true or false");
      }
      rule.speculative = speculative->text == "true";
    }
    return {};
  }

  const config::ConfigDocument& document_;
  StageRulesFile& into_;
};

}  // namespace

Result<void> read_stage_rules(const config::ConfText& source, StageRulesFile& into) {
  auto document = config::parse_yaml(source.text, source.name);
  if (!document) return fail_with(document.error());
  return Reading(*document, into).run();
}

Result<void> read_engine_annotations(const config::ConfText& source, StageRulesFile& into) {
  auto document = config::parse_yaml(source.text, source.name);
  if (!document) return fail_with(document.error());
  return Reading(*document, into).section("annotations");
}

}  // namespace llmprof::analysis
