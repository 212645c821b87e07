#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/model/diff.h"
#include "compare/quantities/quantities.h"
#include "compare/requests/request_quantities.h"

namespace llmprof::compare {

// A condition on a difference: "decode.step.p50<=+2%".
struct Rule {
  std::string text;                  // as written
  std::string from;                  // "command line", or a file
  std::optional<std::string> stage;  // none: every stage that has the quantity
  ComparedQuantity quantity;
  Statistic statistic = Statistic::mean;
  bool at_most = true;             // otherwise at least
  std::optional<double> relative;  // 0.02
  std::optional<double> absolute;  // in the quantity's unit; with both, both must be exceeded
};

// STAGE.QUANTITY[.STATISTIC]<=LIMIT[&LIMIT], or >=; class.NAME.ms for [STAGE.]class.NAME.mean;
// STAGE is "requests" for quantities of a client's requests, and then class.NAME is part.NAME.
// A limit is signed: +2%, -5%, +0.2ms, +30us. Errors are of kind usage.
Result<Rule> parse_rule(std::string_view text, std::string_view from);

// One result per rule and matching stage; a rule whose quantity no stage has is `cannot_tell`.
// `requests` is null if a side has none.
std::vector<GateResult> evaluate(const Rule& rule, std::span<const StageQuantities> stages,
                                 const RequestQuantities* requests = nullptr);

Verdict verdict_of(std::span<const GateResult> results);

}  // namespace llmprof::compare
