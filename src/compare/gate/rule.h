#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "compare/statistics/series.h"

namespace llmprof::compare {

// What must hold of a difference: "decode.step.p50<=+2%".
struct Rule {
  std::string text;                  // as written
  std::string from;                  // "command line", or a file
  std::optional<std::string> stage;  // none: every stage that has the quantity
  std::string quantity;              // as Comparison::quantity
  Statistic statistic = Statistic::mean;
  bool at_most = true;             // else at least
  std::optional<double> relative;  // 0.02
  std::optional<double> absolute;  // in the quantity's unit; with both, both must be exceeded
};

// STAGE.QUANTITY[.STATISTIC]<=LIMIT[&LIMIT], or >=; class.NAME.ms for [STAGE.]class.NAME.mean.
// A limit is signed: +2%, -5%, +0.2ms, +30us. Errors are of kind usage.
Result<Rule> parse_rule(std::string_view text, std::string_view from);

}  // namespace llmprof::compare
