#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/naming/kernel_rules_file.h"
#include "analysis/naming/short_name.h"
#include "base/needed.h"

namespace llmprof::analysis {
namespace {

constexpr int kMostCaptures = 9;

// RE2, because it matches in linear time for any rule and name; std::regex overflows the stack on
// long names. Latin-1, so that a name with invalid UTF-8 matches byte by byte.
RE2::Options matching_options(int64_t memory) {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(memory);
  return options;
}

RE2::Options options_of_one() { return matching_options(1L << 20U); }

struct CompiledRule {
  CompiledRule(KernelRule from, NameTemplate short_name)
      : rule(std::move(from)), name(std::move(short_name)) {}

  // Compiled when a name first matches the rule: few rules match anything in one capture.
  [[nodiscard]] const RE2& expression() const {
    std::call_once(once,
                   [&] { compiled = std::make_unique<RE2>(rule.expression, options_of_one()); });
    return *compiled;
  }

  KernelRule rule;
  NameTemplate name;
  mutable std::once_flag once;
  mutable std::unique_ptr<RE2> compiled;
};

// Consecutive rules: one pass over a name finds all that match. One automaton for all rules had
// so many states that most names added new ones, which took nearly all of the time. Compiled for
// the first name that no earlier rule matches; immediately if it contains a user's rules.
class RuleSet {
 public:
  [[nodiscard]] bool full() const { return rules_.size() == kMostRules; }
  void add(const KernelRule& rule, NameTemplate name) {
    rules_.emplace_back(rule, std::move(name));
    shipped_ = shipped_ && rule.shipped;
  }

  // False if a user's rules are too large.
  [[nodiscard]] bool check() const { return shipped_ || compiled(); }

  [[nodiscard]] const CompiledRule* first_match(const std::string& name) const {
    std::vector<int> matches;
    RE2::Set::ErrorInfo problem{};
    if (compiled()) {
      if (set_->Match(name, &matches, &problem)) {
        return &rules_[static_cast<size_t>(*std::ranges::min_element(matches))];
      }
      if (problem.kind == RE2::Set::kNoError) return nullptr;
    }
    // Out of memory for the automaton: matching one by one is slower but needs none.
    const auto found = std::ranges::find_if(rules_, [&](const CompiledRule& rule) {
      return RE2::PartialMatch(name, rule.expression());
    });
    return found == rules_.end() ? nullptr : &*found;
  }

 private:
  static constexpr size_t kMostRules = 40;

  [[nodiscard]] bool compiled() const {
    std::call_once(once_, [&] {
      // Limits the automaton's states; the memory is allocated as needed.
      set_.emplace(matching_options(64L << 20U), RE2::UNANCHORED);
      for (const CompiledRule& rule : rules_) set_->Add(rule.rule.expression, nullptr);
      if (!set_->Compile()) set_.reset();
    });
    return set_.has_value();
  }

  std::deque<CompiledRule> rules_;
  bool shipped_ = true;
  mutable std::once_flag once_;
  mutable std::optional<RE2::Set> set_;
};

// The number of capture groups. Tests check the shipped rules, so an analysis does not.
int checked_captures(const KernelRule& rule) {
  if (rule.shipped) return kMostCaptures;
  const RE2 expression(rule.expression, options_of_one());
  if (!expression.ok()) {
    give_up(ErrorKind::usage,
            fmt::format("{}: not a valid RE2 expression: {}", rule.place, expression.error()));
  }
  const int captures = expression.NumberOfCapturingGroups();
  if (captures > kMostCaptures) {
    give_up(ErrorKind::usage,
            fmt::format("{}: {} capturing groups, {} are allowed; write (?:...) for those "
                        "that name does not use",
                        rule.place, captures, kMostCaptures));
  }
  return captures;
}

}  // namespace

class KernelRules::Compiled {
 public:
  // Throws Failure.
  explicit Compiled(KernelRulesFile file)
      : file_(std::move(file)), unmatched_(needed(NameTemplate::parse("{kernel} ({dtype})", 0))) {
    for (const KernelRule& rule : file_.rules) add(rule);
    for (const TraitRule& rule : file_.traits) {
      std::string problem;
      if (traits_.Add(rule.expression, &problem) < 0) {
        give_up(ErrorKind::usage,
                fmt::format("{}: not a valid RE2 expression: {}", rule.place, problem));
      }
    }
    if (!file_.traits.empty() && !traits_.Compile()) {
      give_up(ErrorKind::usage, "the traits of kernels are too large to compile");
    }
    if (!std::ranges::all_of(sets_, &RuleSet::check)) {
      give_up(ErrorKind::usage,
              "the kernel rules are too large to compile; remove repetitions such as {1000}");
    }
  }

  [[nodiscard]] KernelDescription describe(std::string_view full_name) const {
    const std::string canonical = canonical_kernel_name(full_name);
    std::string matched = canonical;
    const CompiledRule* rule = first_match(matched);
    if (rule == nullptr) {
      // Rules match separate words; some programs join them.
      matched = words_of_identifier(own_identifier(canonical));
      rule = first_match(matched);
    }
    KernelDescription described;
    add_traits(rule == nullptr ? canonical : matched, described);
    if (rule == nullptr) {
      described.short_name =
          unmatched_.expand({canonical, {}, file_.operators, KernelClass::other});
      described.library = library_of(canonical);
      return described;
    }
    std::array<re2::StringPiece, kMostCaptures + 1> pieces;
    const RE2& expression = rule->expression();
    const int count = expression.NumberOfCapturingGroups() + 1;
    expression.Match(matched, 0, matched.size(), RE2::UNANCHORED, pieces.data(), count);
    std::array<std::string_view, kMostCaptures + 1> captures;
    std::ranges::transform(pieces, captures.begin(), [](re2::StringPiece piece) {
      return std::string_view(piece.data(), piece.size());
    });
    described.kernel_class = rule->rule.kernel_class ? *rule->rule.kernel_class
                                                     : fused_class(own_identifier(canonical),
                                                                   described, file_.operators);
    described.short_name =
        rule->name.expand({canonical, captures, file_.operators, described.kernel_class});
    described.library = rule->rule.library.empty() ? library_of(canonical) : rule->rule.library;
    return described;
  }

 private:
  void add(const KernelRule& rule) {
    auto name =
        NameTemplate::parse(rule.name.empty() ? "{kernel}" : rule.name, checked_captures(rule));
    if (!name) throw Failure(name.error().within(rule.place));
    if (sets_.empty() || sets_.back().full()) sets_.emplace_back();
    sets_.back().add(rule, std::move(*name));
  }

  void add_traits(const std::string& name, KernelDescription& into) const {
    std::vector<int> matches;
    if (file_.traits.empty() || !traits_.Match(name, &matches)) return;
    std::ranges::sort(matches);  // the user's come first
    for (const int match : matches) {
      const auto& shown = file_.traits[static_cast<size_t>(match)].shown;
      if (const auto* trait = std::get_if<KernelTrait>(&shown)) {
        into.traits.set(static_cast<size_t>(*trait));
      } else if (const auto* kind = std::get_if<CollectiveKind>(&shown)) {
        if (!into.collective) into.collective = *kind;
      } else if (into.number_format.empty()) {
        into.number_format = std::get<std::string>(shown);
      }
    }
  }

  [[nodiscard]] std::string library_of(std::string_view canonical) const {
    const auto found = std::ranges::find_if(file_.libraries, [&](const LibraryPrefix& entry) {
      return canonical.starts_with(entry.prefix);
    });
    return found == file_.libraries.end() ? std::string() : found->library;
  }

  [[nodiscard]] const CompiledRule* first_match(const std::string& canonical) const {
    for (const RuleSet& set : sets_) {
      if (const CompiledRule* rule = set.first_match(canonical)) return rule;
    }
    return nullptr;
  }

  KernelRulesFile file_;  // traits by number in the set
  NameTemplate unmatched_;
  std::deque<RuleSet> sets_;
  RE2::Set traits_{matching_options(16L << 20U), RE2::UNANCHORED};
};

Result<KernelRules> KernelRules::parse(std::span<const config::ConfText> texts) {
  return attempt([&] {
    KernelRulesFile file;
    for (const config::ConfText& text : texts) read_kernel_rules(text, file);
    KernelRules rules;
    rules.compiled_ = std::make_shared<const Compiled>(std::move(file));
    return rules;
  });
}

Result<KernelRules> KernelRules::load(const config::ConfFiles& conf) {
  const auto texts = conf.layers("kernels.yaml");
  if (!texts) return fail_with(texts.error());
  return parse(*texts);
}

KernelDescription KernelRules::describe(std::string_view full_name) const {
  return compiled_->describe(full_name);
}

}  // namespace llmprof::analysis
