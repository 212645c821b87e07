#include "analysis/engine/engine_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/secrets/secrets.h"
#include "base/text.h"
#include "config/config_tree.h"
#include "profile/finding_kinds.h"

namespace llmprof::analysis {
namespace {

using config::ConfigNode;

constexpr std::array<std::string_view, 12> kEngineKeys = {
    "name",        "recognized_by",  "kernels_shipped_by",
    "rank_titles", "rank_variables", "recorded_variables",
    "annotations", "phrases",        "advice_like",
    "advice",      "allocated_by",   "memory_lines"};
// In the order of profile::EngineSign, then the library.
constexpr std::array<std::string_view, 7> kSignNames = {
    "annotation", "process", "command", "python_package", "operator", "kernel", "library"};
constexpr std::array<std::string_view, 10> kSignKeys = {
    "annotation", "process", "command",    "python_package", "operator",
    "kernel",     "library", "confidence", "least_share",    "framework"};
constexpr std::array<std::string_view, 3> kAllocationKeys = {"frame", "bytes", "means"};
// In the order of AllocatingCode.
constexpr std::array<std::string_view, 4> kAllocatingCodes = {"weights", "kv_cache", "workspace",
                                                              "forward_pass"};
constexpr std::array<std::string_view, 3> kMemoryLineKeys = {"regex", "part", "unit"};
constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
    {{"bytes", 1}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
constexpr std::array<std::string_view, 2> kAdviceKeys = {"when", "text"};
// What `advise` can check in a finding: flags, then texts.
constexpr std::array<std::string_view, 14> kConditions = {
    "llm",          "pytorch", "compiled",    "compiled_elsewhere", "quantized",
    "splits_cache", "decodes", "graphs_used", "batch_is_full",      "over_saturated",
    "bound_by",     "engine",  "library",     "framework"};
constexpr size_t kFlags = 10;

// Keeps the first mistake, so that callers check only once, at the end.
class EngineFile {
 public:
  EngineFile(const config::ConfigDocument& document, EngineRule& into)
      : document_(document), into_(into) {}

  Result<void> read() {
    const ConfigNode& root = document_.root;
    if (!root.is_map()) return document_.wrong(root, "expected 'name:' and what the engine shows");
    check_keys(root, kEngineKeys);
    if (!root["name"].is_scalar() || root["name"].text.empty()) wrong(root, "'name' is missing");
    into_.name = to_printable(root["name"].text);
    into_.advice_like = root["advice_like"].text;
    texts("kernels_shipped_by", into_.kernels_shipped_by);
    texts("rank_titles", into_.rank_titles);
    variables("rank_variables", into_.rank_variables);
    variables("recorded_variables", into_.recorded_variables);
    if (const ConfigNode* list = root.find("recognized_by")) {
      for (const ConfigNode& node : list->children) sign(node);
      if (!list->is_list()) wrong(*list, "'recognized_by' must be a list of signs");
    }
    each_of("allocated_by", [&](const ConfigNode& node) { allocation(node); });
    each_of("memory_lines", [&](const ConfigNode& node) { memory_line(node); });
    advice_by_name("phrases", into_.phrases);
    advice_by_name("advice", into_.advice);
    if (error_) return fail_with(*error_);
    return {};
  }

 private:
  void wrong(const ConfigNode& node, std::string_view what) {
    if (!error_) error_ = document_.wrong(node, what).value();
  }
  void check_keys(const ConfigNode& map, std::span<const std::string_view> known) {
    const auto checked = document_.check_keys(map, known);
    if (!checked && !error_) error_ = checked.error();
  }

  void texts(std::string_view key, std::vector<std::string>& into) {
    const ConfigNode* list = document_.root.find(key);
    if (list == nullptr) return;
    for (const ConfigNode& item : list->children) into.push_back(item.text);
    if (list->is_list() && std::ranges::count(into, "") == 0) return;
    wrong(*list, fmt::format("'{}' must be a list of texts", key));
  }

  void variables(std::string_view key, std::vector<std::string>& into) {
    texts(key, into);
    for (const std::string& name : into) {
      if (!names_a_secret(name)) continue;
      wrong(document_.root[key], fmt::format("'{}' must not name secrets: {}", key, name));
    }
  }

  std::shared_ptr<const RE2> expression(const ConfigNode& node) {
    RE2::Options options(RE2::Latin1);
    options.set_log_errors(false);
    auto compiled = std::make_shared<RE2>(node.text, options);
    if (!node.is_scalar() || !compiled->ok()) {
      wrong(node,
            fmt::format("'{}' is not a regular expression: {}", node.text, compiled->error()));
    }
    return compiled;
  }

  // A share or a confidence.
  double part_of_one(const ConfigNode& sign, std::string_view key) {
    const auto number = sign[key].number();
    if (number && *number > 0 && *number < 1) return *number;
    wrong(sign, fmt::format("'{}' must be a number between 0 and 1", key));
    return 0;
  }

  void sign(const ConfigNode& node) {
    check_keys(node, kSignKeys);
    SignRule& sign = into_.signs.emplace_back();
    for (size_t i = 0; i < kSignNames.size(); ++i) {
      const ConfigNode* text = node.find(kSignNames[i]);
      if (text == nullptr) continue;
      if (sign.expression != nullptr) wrong(node, "a sign must be of one kind");
      sign.expression = expression(*text);
      sign.by_library = kSignNames[i] == "library";
      sign.kind = sign.by_library ? profile::EngineSign::kernels : profile::EngineSign(i);
    }
    if (sign.expression == nullptr) {
      wrong(node, fmt::format("a sign needs one of: {}", fmt::join(kSignNames, ", ")));
    }
    sign.confidence = part_of_one(node, "confidence");
    if (const ConfigNode* framework = node.find("framework")) {
      sign.framework = to_printable(framework->text);
      sign.least_share = part_of_one(node, "least_share");
    } else if (sign.by_library) {
      wrong(node, "a library needs 'framework' and 'least_share'");
    }
  }

  template <class Read>
  void each_of(std::string_view key, const Read& read) {
    const ConfigNode* list = document_.root.find(key);
    if (list == nullptr) return;
    if (!list->is_list()) wrong(*list, fmt::format("'{}' must be a list", key));
    for (const ConfigNode& node : list->children) read(node);
  }

  void allocation(const ConfigNode& node) {
    check_keys(node, kAllocationKeys);
    AllocationRule& rule = into_.allocated_by.emplace_back();
    const auto means = std::ranges::find(kAllocatingCodes, node["means"].text);
    if (means == kAllocatingCodes.end()) {
      wrong(node, fmt::format("'means' must be one of: {}", fmt::join(kAllocatingCodes, ", ")));
      return;
    }
    rule.means = AllocatingCode(means - kAllocatingCodes.begin());
    const ConfigNode* frame = node.find("frame");
    const ConfigNode* bytes = node.find("bytes");
    if ((frame == nullptr) == (bytes == nullptr)) {
      wrong(node, "expected either 'frame' or 'bytes'");
    } else if (frame != nullptr) {
      rule.frame = expression(*frame);
    } else if (const auto size = bytes->number();
               size && *size >= 1 && *size < 0x1p50 && rule.means == AllocatingCode::workspace) {
      rule.bytes = static_cast<uint64_t>(*size);
    } else {
      wrong(*bytes, "'bytes' must be the size of a workspace");
    }
  }

  void memory_line(const ConfigNode& node) {
    check_keys(node, kMemoryLineKeys);
    MemoryLineRule& rule = into_.memory_lines.emplace_back();
    rule.expression = expression(node["regex"]);
    const auto part = profile::find_word<profile::StatedPart>(node["part"].text);
    if (!part) wrong(node, "'part' must be weights, kv_cache, compute or graphs");
    rule.part = part.value_or(profile::StatedPart::weights);
    const std::map<std::string, int>& groups = rule.expression->NamedCapturingGroups();
    if (!groups.contains("bytes") && !groups.contains("tokens")) {
      wrong(node, "'regex' needs a group 'bytes' or 'tokens'");
    }
    if (!groups.contains("bytes")) return;
    const auto* const unit =
        std::ranges::find(kUnits, node["unit"].text, &std::pair<std::string_view, double>::first);
    if (unit == kUnits.end()) {
      wrong(node, "'unit' must be bytes, MB, GB, KiB, MiB or GiB");
    } else {
      rule.unit = unit->second;
    }
  }

  void advice_by_name(std::string_view key, AdviceByName& into) {
    const ConfigNode* map = document_.root.find(key);
    if (map == nullptr) return;
    if (!map->is_map()) wrong(*map, fmt::format("'{}' must be a map", key));
    for (size_t i = 0; i < map->keys.size(); ++i) {
      const ConfigNode& node = map->children[i];
      if (key == "advice" && !profile::find_word<profile::FindingKind>(map->keys[i])) {
        wrong(node, fmt::format("unknown kind of finding '{}'", map->keys[i]));
      }
      std::vector<Advice>& entries = into[map->keys[i]];
      if (node.is_scalar()) entries.push_back({{}, node.text});
      for (const ConfigNode& child : node.children) advice(child, entries.emplace_back());
    }
  }

  void advice(const ConfigNode& node, Advice& into) {
    check_keys(node, kAdviceKeys);
    if (!node["text"].is_scalar()) wrong(node, "'text' is missing");
    into.text = node["text"].text;
    const ConfigNode& when = node["when"];
    if (node.find("when") != nullptr) check_keys(when, kConditions);
    for (size_t i = 0; i < when.keys.size(); ++i) {
      const ConfigNode& value = when.children[i];
      Advice::Condition& condition = into.when.emplace_back();
      condition.name = when.keys[i];
      const auto flags = std::span(kConditions).first(kFlags);
      if (std::ranges::find(flags, condition.name) == flags.end()) {
        condition.expression = expression(value);
      } else if (const auto flag = value.boolean()) {
        condition.flag = *flag;
      } else {
        wrong(value, fmt::format("'{}' must be true or false", condition.name));
      }
    }
  }

  const config::ConfigDocument& document_;
  EngineRule& into_;
  std::optional<Error> error_;
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

std::set<std::string> EngineRules::all(std::vector<std::string> EngineRule::* list) const {
  std::set<std::string> texts;
  for (const EngineRule& rule : rules_) texts.insert((rule.*list).begin(), (rule.*list).end());
  return texts;
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
