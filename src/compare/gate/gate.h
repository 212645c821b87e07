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

// A condition on a difference: "decode.step.p50<=+2%", "memory.peak<=+1%".
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
// memory.FIGURE or memory.PART is of a GPU in the whole run and has no statistic. A limit is
// signed: +2%, -5%, +0.2ms, +30us; of memory, +1%, +200MiB, +1.5GB. Errors are of kind usage.
Result<Rule> parse_rule(std::string_view text, std::string_view from);

// What a rule on memory found.
struct MemoryByGpu {
  std::vector<Comparison> compared;
  std::vector<std::string> missing;  // GPUs that only some of the runs have
};

// One result per rule and matching stage, or GPU for memory; a rule whose quantity none has is
// `cannot_tell`. `requests` is null if a side has none.
std::vector<GateResult> evaluate(const Rule& rule, std::span<const StageQuantities> stages,
                                 const RequestQuantities* requests = nullptr,
                                 const MemoryByGpu& memory = {});

Verdict verdict_of(std::span<const GateResult> results);

}  // namespace llmprof::compare
