#include "compare/gate/evaluate.h"

#include <algorithm>
#include <cmath>

namespace llmprof::compare {
namespace {

constexpr std::string_view kPass = "pass";
constexpr std::string_view kFail = "fail";
constexpr std::string_view kCannotTell = "cannot_tell";

// Of the difference, in the quantity's unit: with two limits, the wider one, so that only what is
// beyond both is beyond it.
std::optional<double> limit_of(const Rule& rule, const Comparison& measured) {
  std::optional<double> limit = rule.absolute;
  if (rule.relative) {
    const double relative = *rule.relative * std::abs(*measured.base);
    if (!limit) {
      limit = relative;
    } else {
      limit = rule.at_most ? std::max(*limit, relative) : std::min(*limit, relative);
    }
  }
  return limit;
}

std::string_view outcome_of(const Rule& rule, const Comparison& measured) {
  const auto limit = limit_of(rule, measured);
  if (!limit || !measured.low || !measured.high) return kCannotTell;
  if (rule.at_most) {
    if (*measured.low > *limit) return kFail;
    return *measured.high <= *limit ? kPass : kCannotTell;
  }
  if (*measured.high < *limit) return kFail;
  return *measured.low >= *limit ? kPass : kCannotTell;
}

GateResult result_of(const Rule& rule) {
  GateResult result;
  result.rule = rule.text;
  result.from = rule.from;
  result.outcome = kCannotTell;
  if (rule.relative) result.relative_limit = Share{*rule.relative};
  if (rule.absolute) result.absolute_limit = Milliseconds{*rule.absolute};
  return result;
}

}  // namespace

std::vector<GateResult> evaluate(const Rule& rule, std::span<const StageQuantities> stages) {
  std::vector<GateResult> results;
  for (const StageQuantities& stage : stages) {
    if (rule.stage && *rule.stage != stage.stage()) continue;
    const std::string_view quantity = rule.quantity;
    constexpr std::string_view kClass = "class.";
    if (quantity.starts_with(kClass) &&
        std::find(stage.classes().begin(), stage.classes().end(), quantity.substr(kClass.size())) ==
            stage.classes().end()) {
      continue;
    }
    auto measured = stage.compare(quantity, rule.statistic);
    if (!measured) continue;
    GateResult& result = results.emplace_back(result_of(rule));
    result.stage = stage.stage();
    result.outcome = outcome_of(rule, *measured);
    result.measured = std::move(*measured);
  }
  if (results.empty()) {
    results.push_back(result_of(rule));
    results.back().stage = rule.stage.value_or("");
  }
  return results;
}

std::string verdict_of(std::span<const GateResult> results) {
  const auto any = [&](std::string_view outcome) {
    return std::any_of(results.begin(), results.end(),
                       [&](const GateResult& result) { return result.outcome == outcome; });
  };
  if (any(kFail)) return std::string(kFail);
  return std::string(any(kCannotTell) ? kCannotTell : kPass);
}

}  // namespace llmprof::compare
