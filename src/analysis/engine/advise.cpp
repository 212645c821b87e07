#include <algorithm>

#include "analysis/engine/engine.h"
#include "profile/stages.h"

namespace llmprof::analysis {
namespace {

// Advice for one finding.
class Adviser {
 public:
  Adviser(const EngineRules& rules, const profile::Finding& finding, const profile::Engine& engine)
      : finding_(finding),
        engine_(engine),
        // LLM engines have specific advice, which fits only LLMs.
        rules_(rules.that_advise(of_llm()    ? engine_name()
                                 : pytorch() ? std::string(profile::kPyTorch)
                                             : std::string())) {}

  [[nodiscard]] std::string advice() const {
    return first_fitting(&EngineRule::advice, to_string(finding_.kind), 0).value_or("");
  }

 private:
  static constexpr int kDeepest = 8;  // a phrase that contains itself is left unexpanded

  [[nodiscard]] bool of_llm() const { return finding_.stage != profile::kForwardStage; }
  [[nodiscard]] bool pytorch() const {
    return engine_.framework == profile::kPyTorch || value("framework") == profile::kPyTorch;
  }
  [[nodiscard]] bool compiled() const {
    return profile::find_value(finding_.values, "compiled") != nullptr
               ? profile::has_flag(finding_.values, "compiled")
               : engine_.compiled.value_or(false);
  }
  // "PyTorch" if only the framework is known; empty if nothing is.
  [[nodiscard]] std::string engine_name() const {
    if (engine_.name != profile::kUnknownEngine) return engine_.name;
    const std::string seen = value("engine");
    return seen.empty() && pytorch() ? std::string(profile::kPyTorch) : seen;
  }
  [[nodiscard]] std::string value(std::string_view name) const {
    return profile::find_text(finding_.values, name).value_or("");
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    return name == "engine" ? engine_name() : value(name);
  }
  [[nodiscard]] bool flag(std::string_view name) const {
    if (name == "llm") return of_llm();
    if (name == "pytorch") return pytorch();
    if (name == "compiled") return compiled();
    if (name == "compiled_elsewhere") return !compiled() && engine_.compiled.value_or(false);
    return profile::has_flag(finding_.values, name);
  }
  [[nodiscard]] bool fits(const Advice& advice) const {
    return std::ranges::all_of(advice.when, [&](const Advice::Condition& condition) {
      return condition.expression == nullptr
                 ? flag(condition.name) == condition.flag
                 : RE2::FullMatch(text(condition.name), *condition.expression);
    });
  }

  std::optional<std::string> first_fitting(AdviceByName EngineRule::* list, std::string_view name,
                                           int depth) const {
    if (depth > kDeepest) return std::nullopt;
    for (const EngineRule* rule : rules_) {
      const auto found = (rule->*list).find(name);
      if (found == (rule->*list).end()) continue;
      for (const Advice& advice : found->second) {
        if (fits(advice)) return filled(advice.text, depth);
      }
    }
    return std::nullopt;
  }

  // Phrases may contain phrases; a name that is neither a phrase nor a value of the finding stays.
  [[nodiscard]] std::string filled(std::string_view pattern, int depth) const {
    std::string result;
    while (!pattern.empty()) {
      const size_t open = std::min(pattern.find('{'), pattern.size());
      result += pattern.substr(0, open);
      pattern.remove_prefix(open);
      const size_t close = pattern.find('}');
      if (close == std::string_view::npos) return result.append(pattern);
      const std::string_view name = pattern.substr(1, close - 1);
      if (name == "engine" || name == "library") {
        result += text(name);
      } else {
        result += first_fitting(&EngineRule::phrases, name, depth + 1)
                      .value_or(std::string(pattern.substr(0, close + 1)));
      }
      pattern.remove_prefix(close + 1);
    }
    return result;
  }

  const profile::Finding& finding_;
  const profile::Engine& engine_;
  std::vector<const EngineRule*> rules_;
};

}  // namespace

void advise(const EngineRules& rules, const profile::Engine& engine,
            std::vector<profile::Finding>& findings) {
  for (profile::Finding& finding : findings) {
    if (finding.advice.empty()) finding.advice = Adviser(rules, finding, engine).advice();
  }
}

}  // namespace llmprof::analysis
