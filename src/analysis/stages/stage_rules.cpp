#include "analysis/stages/stage_rules.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analysis/stages/stage_rules_file.h"
#include "base/needed.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

constexpr std::string_view kOwnDomain = "LLM";
constexpr std::string_view kFileName = "stages.yaml";
constexpr int kMostGroups = 15;
constexpr int64_t kSetMemory = 64L << 20U;
constexpr int64_t kRuleMemory = 1L << 20U;

constexpr std::array<std::string_view, kMostGroups> kGroupNames = {
    "index",           "name",
    "context",         "generation",
    "context_tokens",  "generation_tokens",
    "context_sk",      "context_sqsq",
    "context_sqsk",    "generation_sk",
    "generation_sqsq", "generation_sqsk",
    "batch",           "tokens",
    "values"};

// RE2 matches in linear time for any rule and label. Latin-1, so that a label with invalid UTF-8
// matches byte by byte.
RE2::Options matching_options(int64_t memory) {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(memory);
  return options;
}

[[noreturn]] void refuse(std::string_view place, std::string_view what) {
  give_up(ErrorKind::usage, fmt::format("{}: {}", place, what));
}

std::unique_ptr<RE2> compile(const std::string& expression, std::string_view place) {
  auto compiled = std::make_unique<RE2>(expression, matching_options(kRuleMemory));
  if (!compiled->ok()) refuse(place, "not a valid RE2 expression: " + compiled->error());
  return compiled;
}

void check_groups(const RE2& expression, std::string_view place) {
  for (const auto& [name, group] : expression.NamedCapturingGroups()) {
    if (std::ranges::find(kGroupNames, name) != kGroupNames.end()) continue;
    refuse(place,
           fmt::format("unknown group '{}'; available: {}", name, fmt::join(kGroupNames, ", ")));
  }
  if (expression.NumberOfCapturingGroups() > kMostGroups) {
    refuse(place,
           fmt::format("more than {} groups; write (?:...) for those without a name", kMostGroups));
  }
}

// Values of a rule's named groups in a label.
class Caught {
 public:
  Caught(const RE2& expression, std::string_view label)
      : groups_(expression.NamedCapturingGroups()) {
    const int count = expression.NumberOfCapturingGroups() + 1;
    expression.Match({label.data(), label.size()}, 0, label.size(), RE2::ANCHOR_BOTH,
                     pieces_.data(), count);
  }
  [[nodiscard]] std::string_view text(const std::string& group) const {
    const auto known = groups_.find(group);
    if (known == groups_.end()) return {};
    const re2::StringPiece& piece = pieces_[static_cast<size_t>(known->second)];
    return {piece.data(), piece.size()};
  }
  [[nodiscard]] std::optional<uint64_t> number(const std::string& group) const {
    const auto value = parse_int(text(group));
    if (!value || *value < 0) return std::nullopt;
    return static_cast<uint64_t>(*value);
  }

 private:
  const std::map<std::string, int>& groups_;
  std::array<re2::StringPiece, kMostGroups + 1> pieces_;
};

// Layer names are normalized to "layer_07".
std::string layer_name(uint64_t index) { return fmt::format("layer_{:02}", index); }

// Values of an engine's step that a rule's groups found in its annotation.
StepValues step_values(const Caught& caught, const StepKeys& keys) {
  StepValues values = read_step_values(caught.text("values"), keys);
  for (const std::string_view group : kGroupNames) {
    std::optional<uint64_t>* value = values.find(group);
    if (value == nullptr) continue;
    if (const auto number = caught.number(std::string(group))) *value = number;
  }
  return values;
}

void read_engine_step(const Caught& caught, const StageRule& rule, RangeMeaning& meaning) {
  const StepValues values = step_values(caught, rule.values);
  const auto kind = kind_of(values.phases, meaning.step_kind);
  if (!kind) {  // an empty step
    meaning.kind = Kind::none;
    return;
  }
  meaning.step_kind = kind;
  meaning.name = to_string(*kind);
  meaning.phases = completed(values, *kind, rule.speculative || values.speculative);
  meaning.batch = values.batch ? values.batch : meaning.phases.sequences();
  meaning.tokens = values.tokens ? values.tokens : meaning.phases.tokens();
}

void read_part(const Caught& caught, std::string_view label, RangeMeaning& meaning) {
  if (meaning.name.empty()) {
    const std::string_view name = caught.text("name");
    meaning.name = to_printable(name.empty() ? label : name);
  }
  const auto index = caught.number("index");
  if (meaning.kind == Kind::layer_part && index) {
    meaning.name = layer_name(*index) + "/" + meaning.name;
  }
}

}  // namespace

class StageRules::Compiled {
 public:
  explicit Compiled(const StageRulesFile& file)
      : set_(matching_options(kSetMemory), RE2::ANCHOR_BOTH) {
    for (const StageRule& rule : file.rules) {
      rules_.push_back({compile(rule.expression, rule.place), nullptr, rule});
      check_groups(*rules_.back().expression, rule.place);
      if (rule.domain) rules_.back().domain = compile(*rule.domain, rule.place);
      set_.Add(rule.expression, nullptr);
    }
    for (const IgnoredDomain& domain : file.ignored_domains) {
      ignored_.push_back(compile(domain.expression, domain.place));
    }
    if (set_.Compile()) return;
    refuse(kFileName, "the rules are too large to compile; remove repetitions such as {1000}");
  }

  [[nodiscard]] RangeMeaning meaning(std::string_view domain, std::string_view label) const {
    RangeMeaning meaning;
    if (is_ignored(domain)) {
      meaning.kind = Kind::ignored;
      return meaning;
    }
    const Rule* rule = first_match(domain, label);
    if (rule == nullptr) return meaning;
    meaning = rule->read.means;
    const Caught caught(*rule->expression, label);
    switch (meaning.kind) {
      case Kind::step:
        meaning.batch = caught.number("batch");
        meaning.tokens = caught.number("tokens");
        break;
      case Kind::engine_step:
        read_engine_step(caught, rule->read, meaning);
        break;
      case Kind::layer:
        if (const auto index = caught.number("index")) {
          meaning.name = layer_name(*index);
          break;
        }
        [[fallthrough]];
      case Kind::layer_part:
      case Kind::pass_part:
      case Kind::vision:
        read_part(caught, label, meaning);
        break;
      case Kind::stage:
      case Kind::warm_up:
      case Kind::none:
      case Kind::ignored:
        break;
    }
    return meaning;
  }

 private:
  struct Rule {
    std::unique_ptr<RE2> expression;
    std::unique_ptr<RE2> domain;  // null: any domain
    StageRule read;
  };

  static bool matches(std::string_view text, const RE2& pattern) {
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
  }

  [[nodiscard]] bool is_ignored(std::string_view domain) const {
    return !domain.empty() && std::ranges::any_of(ignored_, [&](const auto& pattern) {
      return matches(domain, *pattern);
    });
  }

  static bool in_domain(const Rule& rule, std::string_view domain) {
    return rule.domain == nullptr || matches(domain, *rule.domain);
  }

  [[nodiscard]] const Rule* first_match(std::string_view domain, std::string_view label) const {
    std::vector<int> matching;
    RE2::Set::ErrorInfo problem{};
    if (set_.Match({label.data(), label.size()}, &matching, &problem)) {
      std::ranges::sort(matching);
      for (const int match : matching) {
        const Rule& rule = rules_[static_cast<size_t>(match)];
        if (in_domain(rule, domain)) return &rule;
      }
      return nullptr;
    }
    if (problem.kind == RE2::Set::kNoError) return nullptr;
    // The automaton ran out of memory: matching one by one is slower but needs none.
    const auto found = std::ranges::find_if(rules_, [&](const Rule& rule) {
      return in_domain(rule, domain) && matches(label, *rule.expression);
    });
    return found == rules_.end() ? nullptr : &*found;
  }

  RE2::Set set_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<RE2>> ignored_;
};

Result<StageRules> StageRules::load(const config::ConfFiles& conf) {
  return attempt([&] {
    StageRulesFile file;
    const auto shipped_last = needed(conf.layers(kFileName));
    for (const config::ConfText& text : shipped_last) {
      // Engine annotations come after the user's rules and before the shipped ones.
      if (&text == &shipped_last.back()) {
        for (const std::string& engine : conf.names_in("engines")) {
          for (const config::ConfText& own : needed(conf.layers("engines/" + engine + ".yaml"))) {
            read_engine_annotations(own, file);
          }
        }
      }
      read_stage_rules(text, file);
    }
    StageRules rules;
    rules.compiled_ = std::make_shared<Compiled>(file);
    return rules;
  });
}

RangeMeaning StageRules::meaning(std::string_view domain, std::string_view text) const {
  // A domain is often written into the label, in ncu's order (LLM@prefill) or nsys's (prefill@LLM).
  const size_t at = text.find('@');
  if (domain.empty() && at != std::string_view::npos) {
    const std::string_view left = text.substr(0, at);
    const std::string_view right = text.substr(at + 1);
    if (equals_ignoring_case(left, kOwnDomain)) return compiled_->meaning(left, right);
    if (equals_ignoring_case(right, kOwnDomain)) return compiled_->meaning(right, left);
  }
  return compiled_->meaning(domain, text);
}

}  // namespace llmprof::analysis
