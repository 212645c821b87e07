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

enum CaughtGroup : uint8_t {
  kIndex,
  kName,
  kContext,
  kGeneration,
  kContextTokens,
  kGenerationTokens,
  kContextKeys,
  kContextSquares,
  kContextProducts,
  kGenerationKeys,
  kGenerationSquares,
  kGenerationProducts,
  kBatch,
  kTokens,
  kValues,
  kGroups,
};
constexpr std::array<std::string_view, kGroups> kGroupNames = {
    "index",           "name",
    "context",         "generation",
    "context_tokens",  "generation_tokens",
    "context_sk",      "context_sqsq",
    "context_sqsk",    "generation_sk",
    "generation_sqsq", "generation_sqsk",
    "batch",           "tokens",
    "values"};

// RE2 matches in linear time whatever the rule and the label; Latin-1, so that a label with broken
// UTF-8 matches byte by byte.
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

// Where the named groups of an expression are; 0 is none.
using GroupPlaces = std::array<int, kGroups>;

Result<GroupPlaces> places_of_groups(const RE2& expression, const std::string& place) {
  GroupPlaces places{};
  for (const auto& [name, group] : expression.NamedCapturingGroups()) {
    const auto* known = std::find(kGroupNames.begin(), kGroupNames.end(), name);
    if (known == kGroupNames.end()) {
      return fail(ErrorKind::usage, fmt::format("{}: unknown group '{}'; available: {}", place,
                                                name, fmt::join(kGroupNames, ", ")));
    }
    places[static_cast<size_t>(known - kGroupNames.begin())] = group;
  }
  if (expression.NumberOfCapturingGroups() > kMostGroups) {
    return fail(ErrorKind::usage,
                fmt::format("{}: more than {} groups; write (?:...) for those without a name",
                            place, kMostGroups));
  }
  return places;
}

// What the groups of a rule caught in a label.
class Caught {
 public:
  Caught(const RE2& expression, const GroupPlaces& places, std::string_view label)
      : places_(places) {
    const int count = expression.NumberOfCapturingGroups() + 1;
    expression.Match({label.data(), label.size()}, 0, label.size(), RE2::ANCHOR_BOTH,
                     pieces_.data(), count);
  }
  [[nodiscard]] std::string_view text(CaughtGroup group) const {
    if (places_[group] == 0) return {};
    const re2::StringPiece& piece = pieces_[static_cast<size_t>(places_[group])];
    return {piece.data(), piece.size()};
  }
  [[nodiscard]] std::optional<uint64_t> number(CaughtGroup group) const {
    const auto value = parse_int(text(group));
    if (!value || *value < 0) return std::nullopt;
    return static_cast<uint64_t>(*value);
  }

 private:
  const GroupPlaces& places_;
  std::array<re2::StringPiece, kMostGroups + 1> pieces_;
};

// Layers are told as "layer_07" however they were spelled.
std::string layer_name(uint64_t index) { return fmt::format("layer_{:02}", index); }

// What the groups of a rule caught of an engine's step, as its annotation has it.
StepValues step_values(const Caught& caught) {
  StepValues values = read_step_values(caught.text(kValues));
  const auto take = [&](std::optional<uint64_t>& value, CaughtGroup group) {
    if (const auto number = caught.number(group)) value = number;
  };
  take(values.batch, kBatch);
  take(values.tokens, kTokens);
  PhaseBatch& prefill = values.phases.prefill;
  take(prefill.sequences, kContext);
  take(prefill.tokens, kContextTokens);
  take(prefill.keys, kContextKeys);
  take(prefill.squares, kContextSquares);
  take(prefill.products, kContextProducts);
  PhaseBatch& decode = values.phases.decode;
  take(decode.sequences, kGeneration);
  take(decode.tokens, kGenerationTokens);
  take(decode.keys, kGenerationKeys);
  take(decode.squares, kGenerationSquares);
  take(decode.products, kGenerationProducts);
  return values;
}

void tell_engine_step(const Caught& caught, bool speculative, RangeMeaning& meaning) {
  const StepValues values = step_values(caught);
  const auto kind = kind_of(values.phases, meaning.step_kind);
  if (!kind) {  // a step with nothing in it
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
    const std::string_view name = caught.text(kName);
    meaning.name = to_printable(name.empty() ? label : name);
  }
  const auto index = caught.number(kIndex);
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
    auto places = places_of_groups(**expression, rule.place);
    if (!places) return fail_with(places.error());
    Rule compiled{std::move(*expression), nullptr, *places, rule.means, rule.name, rule.kind,
                  rule.speculative};
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
    meaning.kind = rule->means;
    meaning.name = rule->name;
    meaning.step_kind = rule->kind;
    const Caught caught(*rule->expression, rule->places, label);
    switch (rule->means) {
      case Kind::step:
        meaning.batch = caught.number(kBatch);
        meaning.tokens = caught.number(kTokens);
        break;
      case Kind::engine_step:
        tell_engine_step(caught, rule->speculative, meaning);
        break;
      case Kind::layer:
        if (const auto index = caught.number(kIndex)) {
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
    std::unique_ptr<RE2> domain;  // none: any
    GroupPlaces places{};
    Kind means = Kind::none;
    std::string name;
    std::optional<StepKind> kind;
    bool speculative = false;
  };

  [[nodiscard]] bool is_ignored(std::string_view domain) const {
    if (domain.empty()) return false;
    const re2::StringPiece text(domain.data(), domain.size());
    return std::any_of(ignored_.begin(), ignored_.end(), [&](const std::unique_ptr<RE2>& pattern) {
      return RE2::FullMatch(text, *pattern);
    });
  }

  static bool in_domain(const Rule& rule, std::string_view domain) {
    return rule.domain == nullptr ||
           RE2::FullMatch(re2::StringPiece(domain.data(), domain.size()), *rule.domain);
  }

  [[nodiscard]] const Rule* first_match(std::string_view domain, std::string_view label) const {
    const re2::StringPiece text(label.data(), label.size());
    std::vector<int> matches;
    RE2::Set::ErrorInfo problem{};
    if (set_.Match(text, &matches, &problem)) {
      std::sort(matches.begin(), matches.end());
      for (const int match : matches) {
        const Rule& rule = rules_[static_cast<size_t>(match)];
        if (in_domain(rule, domain)) return &rule;
      }
      return nullptr;
    }
    if (problem.kind == RE2::Set::kNoError) return nullptr;
    // Out of memory for the automaton: one by one is slower and needs none.
    const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
      return in_domain(rule, domain) && RE2::FullMatch(text, *rule.expression);
    });
    return found == rules_.end() ? nullptr : &*found;
  }

  RE2::Set set_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<RE2>> ignored_;
};

namespace {

// What engines annotate, after the user's own rules and before the shipped ones.
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
