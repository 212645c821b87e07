#include "analysis/stages/stage_rules_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/needed.h"
#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

constexpr std::array<std::string_view, 2> kSections = {"ignored_domains", "rules"};
constexpr std::array<std::string_view, 8> kKeys = {"regex", "domain", "means",  "name",
                                                   "kind",  "part",   "values", "speculative"};
constexpr std::array<std::string_view, 2> kParts = {"start", "model"};
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
  Reading(const config::ConfText& source, StageRulesFile& into)
      : document_(needed(config::parse_yaml(source.text, source.name))), into_(into) {}

  void all() {
    const config::ConfigNode& root = document_.root;
    if (root.is_null()) return;
    if (!root.is_map()) document_.refuse(root, "expected 'rules:' with a list of rules");
    needed(document_.check_keys(root, kSections));
    for (const std::string& key : root.keys) section(key);
  }

  // A list of rules or of ignored domains; a missing list is accepted.
  void section(std::string_view key) {
    const config::ConfigNode& list = document_.root[key];
    if (list.is_null()) return;
    if (!list.is_list()) document_.refuse(list, fmt::format("'{}' must be a list", key));
    for (const config::ConfigNode& item : list.children) {
      if (key == "ignored_domains") {
        ignored_domain(item);
      } else {
        read_rule(item, static_cast<size_t>(&item - list.children.data()) + 1);
      }
    }
  }

 private:
  [[nodiscard]] std::string place(const config::ConfigNode& node) const {
    return fmt::format("{}:{}", document_.name, node.line);
  }

  void ignored_domain(const config::ConfigNode& item) {
    if (!item.is_scalar() || item.text.empty()) {
      document_.refuse(item, "an ignored domain must be an expression, e.g. 'CCCL|NCCL'");
    }
    into_.ignored_domains.push_back({place(item), item.text});
  }

  void read_rule(const config::ConfigNode& node, size_t number) {
    if (!node.is_map()) document_.refuse(node, "a rule must be a map with 'regex' and 'means'");
    needed(document_.check_keys(node, kKeys));
    for (size_t i = 0; i < node.keys.size(); ++i) {
      const config::ConfigNode& value = node.children[i];
      if (node.keys[i] == "values") continue;
      // `domain: ''` is the default domain; other strings must not be empty.
      if (!value.is_scalar() || (value.text.empty() && node.keys[i] != "domain")) {
        document_.refuse(value, fmt::format("'{}' must be a string", node.keys[i]));
      }
    }
    const config::ConfigNode& means = node["means"];
    for (const std::string_view key : {"regex", "means"}) {
      if (node[key].is_null()) document_.refuse(node, fmt::format("a rule needs '{}'", key));
    }
    StageRule& rule = into_.rules.emplace_back();
    rule.place = fmt::format("{}: rule {}", place(node), number);
    rule.expression = node["regex"].text;
    const auto* meaning = std::ranges::find(kMeanings, means.text);
    if (meaning == kMeanings.end()) {
      document_.refuse(means, unknown_word("meaning", means.text, kMeanings));
    }
    rule.means.kind = kMeaningKinds[static_cast<size_t>(meaning - kMeanings.begin())];
    if (const config::ConfigNode* domain = node.find("domain")) rule.domain = domain->text;
    rule.means.name = to_printable(node["name"].text);
    if (rule.means.kind == Kind::stage && rule.means.name.empty()) {
      document_.refuse(node, "a stage needs 'name'");
    }
    if (const config::ConfigNode* kind = node.find("kind")) {
      rule.means.step_kind = profile::find_word<StepKind>(kind->text);
      if (!rule.means.step_kind || rule.means.step_kind == StepKind::forward) {
        document_.refuse(*kind, unknown_word("kind", kind->text, kStepKinds));
      }
    }
    if (const config::ConfigNode* part = node.find("part")) {
      if (part->text != kParts[0] && part->text != kParts[1]) {
        document_.refuse(*part, unknown_word("part", part->text, kParts));
      }
      using enum RangeMeaning::PassPart;
      rule.means.part = part->text == kParts[0] ? start : model;
    }
    if (const config::ConfigNode* values = node.find("values")) read_keys(*values, rule.values);
    if (const config::ConfigNode* speculative = node.find("speculative")) {
      if (speculative->text != "true" && speculative->text != "false") {
        document_.refuse(*speculative, "'speculative' must be true or false");
      }
      rule.speculative = speculative->text == "true";
    }
  }

  void read_keys(const config::ConfigNode& node, StepKeys& keys) {
    if (!node.is_map()) document_.refuse(node, "'values' must be a map, e.g. {bs: batch}");
    for (size_t i = 0; i < node.keys.size(); ++i) {
      const config::ConfigNode& value = node.children[i];
      if (std::ranges::find(kStepValues, value.text) == kStepValues.end()) {
        document_.refuse(value, unknown_word("value", value.text, kStepValues));
      }
      keys[node.keys[i]] = value.text;
    }
  }

  config::ConfigDocument document_;
  StageRulesFile& into_;
};

}  // namespace

void read_stage_rules(const config::ConfText& source, StageRulesFile& into) {
  Reading(source, into).all();
}

void read_engine_annotations(const config::ConfText& source, StageRulesFile& into) {
  Reading(source, into).section("annotations");
}

}  // namespace llmprof::analysis
