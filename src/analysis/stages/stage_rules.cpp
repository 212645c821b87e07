#include "analysis/stages/stage_rules.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analysis/stages/stage_rules_file.h"
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

Result<std::unique_ptr<RE2>> compile(const std::string& expression, const std::string& place) {
  auto compiled = std::make_unique<RE2>(expression, matching_options(kRuleMemory));
  if (!compiled->ok()) {
    return fail(ErrorKind::usage,
                fmt::format("{}: not a valid RE2 expression: {}", place, compiled->error()));
  }
  return compiled;
}

Result<void> check_groups(const RE2& expression, const std::string& place) {
  for (const auto& [name, group] : expression.NamedCapturingGroups()) {
    if (std::ranges::find(kGroupNames, name) != kGroupNames.end()) continue;
    return fail(ErrorKind::usage, fmt::format("{}: unknown group '{}'; available: {}", place, name,
                                              fmt::join(kGroupNames, ", ")));
  }
  if (expression.NumberOfCapturingGroups() > kMostGroups) {
    return fail(ErrorKind::usage,
                fmt::format("{}: more than {} groups; write (?:...) for those without a name",
                            place, kMostGroups));
  }
  return {};
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
StepValues step_values(const Caught& caught) {
  StepValues values = read_step_values(caught.text("values"));
  const auto take = [&](std::optional<uint64_t>& value, const std::string& group) {
    if (const auto number = caught.number(group)) value = number;
  };
  take(values.batch, "batch");
  take(values.tokens, "tokens");
  const auto take_phase = [&](PhaseBatch& phase, const std::string& name) {
    take(phase.sequences, name);
    take(phase.tokens, name + "_tokens");
    take(phase.keys, name + "_sk");
    take(phase.squares, name + "_sqsq");
    take(phase.products, name + "_sqsk");
  };
  take_phase(values.phases.prefill, "context");
  take_phase(values.phases.decode, "generation");
  return values;
}

void tell_engine_step(const Caught& caught, bool speculative, RangeMeaning& meaning) {
  const StepValues values = step_values(caught);
  const auto kind = kind_of(values.phases, meaning.step_kind);
  if (!kind) {  // an empty step
    meaning.kind = Kind::none;
    return;
  }
  meaning.step_kind = kind;
  meaning.name = to_string(*kind);
  meaning.phases = completed(values, *kind, speculative || values.speculative);
  meaning.batch = values.batch ? values.batch : meaning.phases.sequences();
  meaning.tokens = values.tokens ? values.tokens : meaning.phases.tokens();
}

void tell_part(const Caught& caught, std::string_view label, RangeMeaning& meaning) {
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
  Compiled() : set_(matching_options(kSetMemory), RE2::ANCHOR_BOTH) {}

  Result<void> add(const StageRule& rule) {
    auto expression = compile(rule.expression, rule.place);
    if (!expression) return fail_with(expression.error());
    if (auto known = check_groups(**expression, rule.place); !known) return known;
    Rule compiled{std::move(*expression), nullptr, rule.means, rule.speculative};
    if (rule.domain) {
      auto domain = compile(*rule.domain, rule.place);
      if (!domain) return fail_with(domain.error());
      compiled.domain = std::move(*domain);
    }
    set_.Add(rule.expression, nullptr);
    rules_.push_back(std::move(compiled));
    return {};
  }

  Result<void> ignore(const IgnoredDomain& domain) {
    auto expression = compile(domain.expression, domain.place);
    if (!expression) return fail_with(expression.error());
    ignored_.push_back(std::move(*expression));
    return {};
  }

  Result<void> finish() {
    if (set_.Compile()) return {};
    return fail(ErrorKind::usage, fmt::format("{}: the rules are too large to compile; remove "
                                              "repetitions such as {{1000}}",
                                              kFileName));
  }

  [[nodiscard]] RangeMeaning meaning(std::string_view domain, std::string_view label) const {
    RangeMeaning meaning;
    if (is_ignored(domain)) {
      meaning.kind = Kind::ignored;
      return meaning;
    }
    const Rule* rule = first_match(domain, label);
    if (rule == nullptr) return meaning;
    meaning = rule->means;
    const Caught caught(*rule->expression, label);
    switch (meaning.kind) {
      case Kind::step:
        meaning.batch = caught.number("batch");
        meaning.tokens = caught.number("tokens");
        break;
      case Kind::engine_step:
        tell_engine_step(caught, rule->speculative, meaning);
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
        tell_part(caught, label, meaning);
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
    RangeMeaning means;
    bool speculative = false;
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

namespace {

// Engine annotations come after the user's rules and before the shipped ones.
Result<void> read_engines(const config::ConfFiles& conf, StageRulesFile& into) {
  for (const std::string& engine : conf.names_in("engines")) {
    auto texts = conf.layers("engines/" + engine + ".yaml");
    if (!texts) return fail_with(texts.error());
    for (const config::ConfText& text : *texts) {
      if (auto read = read_engine_annotations(text, into); !read) return read;
    }
  }
  return {};
}

}  // namespace

Result<StageRules> StageRules::load(const config::ConfFiles& conf) {
  auto texts = conf.layers(kFileName);
  if (!texts) return fail_with(texts.error());
  StageRulesFile file;
  for (const config::ConfText& text : *texts) {
    if (&text == &texts->back()) {
      if (auto read = read_engines(conf, file); !read) return fail_with(read.error());
    }
    if (auto read = read_stage_rules(text, file); !read) return fail_with(read.error());
  }
  auto compiled = std::make_shared<Compiled>();
  for (const StageRule& rule : file.rules) {
    if (auto added = compiled->add(rule); !added) return fail_with(added.error());
  }
  for (const IgnoredDomain& domain : file.ignored_domains) {
    if (auto added = compiled->ignore(domain); !added) return fail_with(added.error());
  }
  if (auto done = compiled->finish(); !done) return fail_with(done.error());
  StageRules rules;
  rules.compiled_ = std::move(compiled);
  return rules;
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
