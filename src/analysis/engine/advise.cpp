#include <algorithm>

#include "analysis/engine/engine.h"
#include "profile/stages.h"

namespace llmprof::analysis {
namespace {

// What conditions and texts ask of a finding.
class FindingFacts {
 public:
  FindingFacts(const profile::Finding& finding, const profile::Engine& engine)
      : finding_(finding), engine_(engine) {}

  [[nodiscard]] bool of_llm() const { return finding_.stage != profile::kForwardStage; }
  [[nodiscard]] bool pytorch() const {
    return engine_.framework == profile::kPyTorch || value("framework") == profile::kPyTorch;
  }
  // "PyTorch" where only the framework is known; empty where nothing is.
  [[nodiscard]] std::string engine() const {
    if (engine_.name != profile::kUnknownEngine) return engine_.name;
    const std::string seen = value("engine");
    return seen.empty() && pytorch() ? std::string(profile::kPyTorch) : seen;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    return name == "engine" ? engine() : value(name);
  }
  [[nodiscard]] bool flag(std::string_view name) const {
    if (name == "llm") return of_llm();
    if (name == "pytorch") return pytorch();
    if (name == "compiled") return compiled();
    if (name == "compiled_elsewhere") return !compiled() && engine_.compiled.value_or(false);
    return profile::has_flag(finding_.values, name);
  }
  [[nodiscard]] bool fulfil(const Advice& advice) const {
    return std::all_of(advice.when.begin(), advice.when.end(), [&](const auto& condition) {
      return condition.expression == nullptr
                 ? flag(condition.name) == condition.flag
                 : RE2::FullMatch(text(condition.name), *condition.expression);
    });
  }

 private:
  [[nodiscard]] std::string value(std::string_view name) const {
    return profile::find_text(finding_.values, name).value_or("");
  }
  [[nodiscard]] bool compiled() const {
    return profile::find_value(finding_.values, "compiled") != nullptr
               ? profile::has_flag(finding_.values, "compiled")
               : engine_.compiled.value_or(false);
  }

  const profile::Finding& finding_;
  const profile::Engine& engine_;
};

class Adviser {
 public:
  Adviser(const EngineRules& rules, const FindingFacts& facts)
      : facts_(facts),
        // Engines of LLMs have advice of their own, which fits their LLMs alone.
        rules_(rules.that_advise(facts.of_llm()    ? facts.engine()
                                 : facts.pytorch() ? std::string(profile::kPyTorch)
                                                   : std::string())) {}

  [[nodiscard]] std::string of_kind(std::string_view kind) const {
    return first_fitting(&EngineRule::advice, kind, 0).value_or("");
  }

 private:
  static constexpr int kDeepest = 8;  // a phrase that holds itself stays as it is

  std::optional<std::string> first_fitting(AdviceByName EngineRule::* list, std::string_view name,
                                           int depth) const {
    if (depth > kDeepest) return std::nullopt;
    for (const EngineRule* rule : rules_) {
      const auto found = (rule->*list).find(name);
      if (found == (rule->*list).end()) continue;
      for (const Advice& advice : found->second) {
        if (facts_.fulfil(advice)) return filled(advice.text, depth);
      }
    }
    return std::nullopt;
  }

  // Phrases may hold phrases; what is neither a phrase nor known of the finding stays.
  [[nodiscard]] std::string filled(std::string_view text, int depth) const {
    std::string result;
    while (!text.empty()) {
      const size_t open = std::min(text.find('{'), text.size());
      result += text.substr(0, open);
      text.remove_prefix(open);
      const size_t close = text.find('}');
      if (close == std::string_view::npos) return result.append(text);
      const std::string_view name = text.substr(1, close - 1);
      if (name == "engine" || name == "library") {
        result += facts_.text(name);
      } else {
        result += first_fitting(&EngineRule::phrases, name, depth + 1)
                      .value_or(std::string(text.substr(0, close + 1)));
      }
      text.remove_prefix(close + 1);
    }
    return result;
  }

  const FindingFacts& facts_;
  std::vector<const EngineRule*> rules_;
};

}  // namespace

void advise(const EngineRules& rules, const profile::Engine& engine,
            std::vector<profile::Finding>& findings) {
  for (profile::Finding& finding : findings) {
    const FindingFacts facts(finding, engine);
    finding.advice = Adviser(rules, facts).of_kind(to_string(finding.kind));
  }
}

}  // namespace llmprof::analysis
