#include "analysis/engine/engine_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/config_tree.h"
#include "profile/finding_kinds.h"

namespace llmprof::analysis {
namespace {

using config::ConfigNode;

constexpr std::array<std::string_view, 8> kEngineKeys = {
    "name",        "recognized_by", "kernels_shipped_by", "rank_titles",
    "annotations", "phrases",       "advice_like",        "advice"};
constexpr std::array<std::string_view, 7> kSignNames = {
    "annotation", "process", "command", "python_package", "operator", "kernel", "library"};
constexpr std::array<std::string_view, 10> kSignKeys = {
    "annotation", "process", "command",    "python_package", "operator",
    "kernel",     "library", "confidence", "least_share",    "framework"};
constexpr std::array<std::string_view, 2> kAdviceKeys = {"when", "text"};
// What `advise` knows of a finding: flags, then texts.
constexpr std::array<std::string_view, 12> kConditions = {
    "llm",       "pytorch",      "compiled", "compiled_elsewhere",
    "quantized", "splits_cache", "decodes",  "graphs_used",
    "bound_by",  "engine",       "library",  "framework"};
constexpr size_t kFlags = 8;

class EngineFile {
 public:
  EngineFile(const config::ConfigDocument& document, EngineRule& into)
      : document_(document), into_(into) {}

  Result<void> read() {
    const ConfigNode& root = document_.root;
    if (!root.is_map()) return document_.wrong(root, "expected 'name:' and what the engine shows");
    if (auto known = document_.check_keys(root, kEngineKeys); !known) return known;
    const ConfigNode* name = root.find("name");
    if (name == nullptr || !name->is_scalar() || name->text.empty()) {
      return document_.wrong(root, "'name' is missing");
    }
    into_.name = to_printable(name->text);
    if (const ConfigNode* like = root.find("advice_like")) into_.advice_like = like->text;
    auto done = texts("kernels_shipped_by", into_.kernels_shipped_by);
    if (done) done = texts("rank_titles", into_.rank_titles);
    if (done) done = signs();
    if (done) done = advice_by_name("phrases", into_.phrases);
    if (done) done = advice_by_name("advice", into_.advice);
    return done;
  }

 private:
  Result<void> texts(std::string_view key, std::vector<std::string>& into) const {
    const ConfigNode* list = document_.root.find(key);
    if (list == nullptr) return {};
    for (const ConfigNode& item : list->children) into.push_back(item.text);
    if (list->is_list() && std::count(into.begin(), into.end(), "") == 0) return {};
    return document_.wrong(*list, fmt::format("'{}' must be a list of texts", key));
  }

  Result<std::shared_ptr<const RE2>> expression(const ConfigNode& node) const {
    RE2::Options options(RE2::Latin1);
    options.set_log_errors(false);
    auto compiled = std::make_shared<RE2>(node.text, options);
    if (node.is_scalar() && compiled->ok()) return compiled;
    return document_.wrong(
        node, fmt::format("'{}' is no regular expression: {}", node.text, compiled->error()));
  }

  // A share or a confidence.
  Result<double> part_of_one(const ConfigNode& sign, std::string_view key) const {
    const ConfigNode* node = sign.find(key);
    const auto number = node == nullptr ? std::nullopt : node->number();
    if (number && *number > 0 && *number < 1) return *number;
    return document_.wrong(sign, fmt::format("'{}' must be a number between 0 and 1", key));
  }

  Result<void> signs() {
    const ConfigNode* list = document_.root.find("recognized_by");
    if (list == nullptr) return {};
    for (const ConfigNode& node : list->children) {
      if (auto read = sign(node); !read) return read;
    }
    if (list->is_list()) return {};
    return document_.wrong(*list, "'recognized_by' must be a list of signs");
  }

  Result<void> sign(const ConfigNode& node) {
    if (auto known = document_.check_keys(node, kSignKeys); !known) return known;
    EngineSign sign;
    for (size_t i = 0; i < kSignNames.size(); ++i) {
      const ConfigNode* text = node.find(kSignNames[i]);
      if (text == nullptr) continue;
      if (sign.expression != nullptr) return document_.wrong(node, "a sign must be of one kind");
      auto compiled = expression(*text);
      if (!compiled) return fail_with(compiled.error());
      sign.expression = std::move(*compiled);
      sign.kind = static_cast<EngineSign::Kind>(i);
    }
    if (sign.expression == nullptr) {
      return document_.wrong(node,
                             fmt::format("a sign needs one of: {}", fmt::join(kSignNames, ", ")));
    }
    const auto confidence = part_of_one(node, "confidence");
    if (!confidence) return fail_with(confidence.error());
    sign.confidence = *confidence;
    if (const ConfigNode* framework = node.find("framework")) {
      sign.framework = to_printable(framework->text);
      const auto share = part_of_one(node, "least_share");
      if (!share) return fail_with(share.error());
      sign.least_share = *share;
    } else if (sign.kind == EngineSign::Kind::library) {
      return document_.wrong(node, "a library needs 'framework' and 'least_share'");
    }
    into_.signs.push_back(std::move(sign));
    return {};
  }

  Result<void> advice_by_name(std::string_view key, AdviceByName& into) const {
    const ConfigNode* map = document_.root.find(key);
    if (map == nullptr) return {};
    if (!map->is_map()) return document_.wrong(*map, fmt::format("'{}' must be a map", key));
    for (size_t i = 0; i < map->keys.size(); ++i) {
      const ConfigNode& node = map->children[i];
      if (key == "advice" && !profile::find_word<profile::FindingKind>(map->keys[i])) {
        return document_.wrong(node, fmt::format("unknown kind of finding '{}'", map->keys[i]));
      }
      std::vector<Advice>& entries = into[map->keys[i]];
      if (node.is_scalar()) entries.push_back({{}, node.text});
      for (const ConfigNode& child : node.children) {
        if (auto read = advice(child, entries.emplace_back()); !read) return read;
      }
    }
    return {};
  }

  Result<void> advice(const ConfigNode& node, Advice& into) const {
    if (auto known = document_.check_keys(node, kAdviceKeys); !known) return known;
    const ConfigNode* text = node.find("text");
    if (text == nullptr || !text->is_scalar()) return document_.wrong(node, "'text' is missing");
    into.text = text->text;
    const ConfigNode* when = node.find("when");
    if (when == nullptr) return {};
    if (auto known = document_.check_keys(*when, kConditions); !known) return known;
    for (size_t i = 0; i < when->keys.size(); ++i) {
      Advice::Condition& condition = into.when.emplace_back();
      condition.name = when->keys[i];
      const ConfigNode& value = when->children[i];
      if (std::find(kConditions.begin(), kConditions.begin() + kFlags, condition.name) ==
          kConditions.begin() + kFlags) {
        auto compiled = expression(value);
        if (!compiled) return fail_with(compiled.error());
        condition.expression = std::move(*compiled);
      } else if (const auto flag = value.boolean()) {
        condition.flag = *flag;
      } else {
        return document_.wrong(value, fmt::format("'{}' must be true or false", condition.name));
      }
    }
    return {};
  }

  const config::ConfigDocument& document_;
  EngineRule& into_;
};

}  // namespace

Result<EngineRules> EngineRules::load(const config::ConfFiles& conf) {
  EngineRules rules;
  for (const std::string& name : conf.names_in("engines")) {
    const auto texts = conf.layers("engines/" + name + ".yaml");
    if (!texts) return fail_with(texts.error());
    for (const config::ConfText& text : *texts) {
      const auto document = config::parse_yaml(text.text, text.name);
      if (!document) return fail_with(document.error());
      if (auto read = EngineFile(*document, rules.rules_.emplace_back()).read(); !read) {
        return fail_with(read.error());
      }
    }
  }
  return rules;
}

std::vector<const EngineRule*> EngineRules::that_advise(std::string_view engine) const {
  std::vector<const EngineRule*> found;
  const auto add = [&](std::string_view name) {
    for (const EngineRule& rule : rules_) {
      if (rule.name == name) found.push_back(&rule);
    }
  };
  add(engine);
  for (const EngineRule& rule : rules_) {
    if (rule.name == engine && !rule.advice_like.empty()) add(rule.advice_like);
  }
  add(kAnyEngine);
  return found;
}

}  // namespace llmprof::analysis
