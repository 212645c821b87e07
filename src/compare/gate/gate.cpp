#include "compare/gate/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace llmprof::compare {
namespace {

constexpr std::string_view kExample =
    "write it as decode.step.p50<=+2%, prefill.wall.mean<=+5%&+0.2ms, class.gemm.ms<=+1%, "
    "requests.ttft.p99<=+5% or memory.peak<=+1%";

tl::unexpected<Error> wrong(std::string_view rule, std::string_view what) {
  return fail(ErrorKind::usage,
              fmt::format("gate rule '{}': {}; {}", to_printable(rule), what, kExample));
}

std::vector<std::string_view> trimmed_pieces(std::string_view text, char at) {
  std::vector<std::string_view> pieces = split(text, at);
  for (std::string_view& piece : pieces) piece = trim(piece);
  return pieces;
}

struct LimitUnit {
  std::string_view name;
  double per_one;  // of the quantity's unit
  std::optional<double> Rule::* limit;
};
// Times are in milliseconds; rates and shares have no unit.
constexpr LimitUnit kTimeLimits[] = {{"%", 100, &Rule::relative},
                                     {"ms", 1, &Rule::absolute},
                                     {"us", 1e3, &Rule::absolute},
                                     {"ns", 1e6, &Rule::absolute}};
// "B" last: the others end in it.
constexpr double kKibi = 1024;
constexpr LimitUnit kMemoryLimits[] = {{"%", 100, &Rule::relative},
                                       {"KiB", 1 / kKibi, &Rule::absolute},
                                       {"MiB", 1 / (kKibi * kKibi), &Rule::absolute},
                                       {"GiB", 1 / (kKibi * kKibi * kKibi), &Rule::absolute},
                                       {"kB", 1e-3, &Rule::absolute},
                                       {"MB", 1e-6, &Rule::absolute},
                                       {"GB", 1e-9, &Rule::absolute},
                                       {"B", 1, &Rule::absolute}};

Result<void> add_limit(std::string_view text, Rule& rule) {
  const bool of_memory = rule.quantity.is_of_memory();
  const auto units = of_memory ? std::span<const LimitUnit>(kMemoryLimits)
                               : std::span<const LimitUnit>(kTimeLimits);
  if (!text.starts_with('+') && !text.starts_with('-') && text != "0%") {
    return wrong(rule.text, fmt::format("the limit '{}' has no sign", to_printable(text)));
  }
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  for (const LimitUnit& unit : units) {
    if (!digits.ends_with(unit.name)) continue;
    const auto value = parse_decimal(trim(digits.substr(0, digits.size() - unit.name.size())));
    // The parser accepts "nan" and "inf", which nothing can exceed.
    if (!value || !std::isfinite(*value) || rule.*unit.limit) break;
    rule.*unit.limit = *value / unit.per_one;
    return {};
  }
  return wrong(rule.text,
               fmt::format("'{}' is not a limit in {}", to_printable(text),
                           of_memory ? "%, B, kB, MB, GB, KiB, MiB or GiB" : "%, ms, us or ns"));
}

bool is_known_part(ComparedQuantity quantity) {
  return !quantity.part || profile::is_known(*quantity.part);
}

std::string available_quantities(bool of_requests) {
  constexpr auto kNames = std::span(profile::kNames<ComparedQuantity>);
  if (!of_requests) {
    return fmt::format("{}, class.NAME", fmt::join(kNames.first<std::size(kQuantities)>(), ", "));
  }
  constexpr auto kOfRequests =
      kNames.subspan<std::size(kQuantities), std::size(kRequestQuantities) + kRequestParts>();
  return fmt::format("{}", fmt::join(kOfRequests, ", "));
}

// The parts of memory.FIGURE or memory.PART.
Result<void> set_memory(std::span<const std::string_view> parts, Rule& rule) {
  const auto quantity = profile::find_word<ComparedQuantity>(std::string(kMemory).append(parts[1]));
  if (!quantity) {
    constexpr auto kNames = std::span(profile::kNames<ComparedQuantity>).last<kMemoryQuantities>();
    return wrong(rule.text, fmt::format("unknown quantity '{}' of memory; available: {}",
                                        to_printable(parts[1]), fmt::join(kNames, ", ")));
  }
  if (parts.size() > 2) {
    return wrong(rule.text, "memory has no statistics: a run has one value per GPU");
  }
  rule.quantity = *quantity;
  return {};
}

// [STAGE.]class.NAME[.STATISTIC], requests.part.NAME, STAGE.QUANTITY[.STATISTIC], or memory.NAME.
Result<void> set_metric(std::string_view metric, Rule& rule) {
  const auto parts = trimmed_pieces(metric, '.');
  if (parts.size() < 2) return wrong(rule.text, "it names no quantity of a stage");
  if (parts[0] == "memory") return set_memory(parts, rule);
  size_t at = 0;
  if (parts[at] != "class") rule.stage = parts[at++];
  const bool of_class = parts[at] == "class" && at + 1 < parts.size();
  const bool of_part = parts[at] == "part" && at + 1 < parts.size();
  std::string name(parts[at++]);
  if (of_class) {
    name = std::string(kClass).append(parts[at++]);
    std::ranges::replace(name, '_', ' ');  // "moe_routing"
  }
  if (of_part) name = std::string(kPart).append(parts[at++]);
  const auto quantity = profile::read_word<ComparedQuantity>(name);
  const bool of_requests = rule.stage == kRequests;
  if (!quantity || !is_known_part(*quantity) || quantity->is_of_requests() != of_requests) {
    return wrong(rule.text, fmt::format("unknown quantity '{}' of {}; available: {}",
                                        to_printable(name), of_requests ? "requests" : "a stage",
                                        available_quantities(of_requests)));
  }
  rule.quantity = *quantity;
  const auto rest = std::span(parts).subspan(at);
  if (rest.empty() || (of_class && rest.size() == 1 && rest[0] == "ms")) return {};
  const auto statistic = profile::find_word<Statistic>(rest[0]);
  if (statistic && rest.size() == 1) {
    rule.statistic = *statistic;
    return {};
  }
  if (of_class) return wrong(rule.text, "a class is named as class.NAME.ms");
  return wrong(rule.text,
               fmt::format("unknown statistic '{}'; available: {}", to_printable(rest[0]),
                           fmt::join(profile::kNames<Statistic>, ", ")));
}

// Limit of the difference, in the quantity's unit. With two limits it is the wider one: exceeding
// it means exceeding both.
std::optional<double> limit_of(const Rule& rule, const Comparison& measured) {
  std::optional<double> limit = rule.absolute;
  if (rule.relative) {
    const double relative = *rule.relative * std::abs(*measured.base);
    const double other = limit.value_or(relative);
    limit = rule.at_most ? std::max(other, relative) : std::min(other, relative);
  }
  return limit;
}

Verdict outcome_of(const Rule& rule, const Comparison& measured) {
  const auto limit = limit_of(rule, measured);
  if (!limit || !measured.low || !measured.high) return Verdict::cannot_tell;
  const auto exceeds = [&](double end) { return rule.at_most ? end > *limit : end < *limit; };
  if (exceeds(*measured.low) && exceeds(*measured.high)) return Verdict::fail;
  const bool any = exceeds(*measured.low) || exceeds(*measured.high);
  return any ? Verdict::cannot_tell : Verdict::pass;
}

GateResult result_of(const Rule& rule) {
  GateResult result;
  result.rule = rule.text;
  result.from = rule.from;
  result.outcome = Verdict::cannot_tell;
  if (rule.relative) result.relative_limit = Share{*rule.relative};
  if (!rule.absolute) return result;
  if (rule.quantity.is_of_memory()) {
    result.absolute_limit_bytes = Bytes{std::round(*rule.absolute)};
  } else {
    result.absolute_limit = Milliseconds{*rule.absolute};
  }
  return result;
}

}  // namespace

Result<Rule> parse_rule(std::string_view text, std::string_view from) {
  Rule rule;
  rule.text = trim(text);
  rule.from = from;
  size_t at = rule.text.find("<=");
  if (at == std::string::npos) {
    at = rule.text.find(">=");
    rule.at_most = false;
  }
  if (at == std::string::npos) return wrong(rule.text, "it has neither <= nor >=");
  const std::string metric = rule.text.substr(0, at);
  if (auto set = set_metric(metric, rule); !set) return fail_with(set.error());
  for (const auto limit : trimmed_pieces(std::string_view(rule.text).substr(at + 2), '&')) {
    if (auto added = add_limit(limit, rule); !added) return fail_with(added.error());
  }
  return rule;
}

std::vector<GateResult> evaluate(const Rule& rule, std::span<const StageQuantities> stages,
                                 const RequestQuantities* requests, const MemoryByGpu& memory) {
  std::vector<GateResult> results;
  const auto add = [&](std::string_view stage, Comparison measured) {
    GateResult& result = results.emplace_back(result_of(rule));
    result.stage = stage;
    result.outcome = outcome_of(rule, measured);
    result.measured = std::move(measured);
  };
  if (requests != nullptr && rule.stage == kRequests) {
    if (auto measured = requests->compare(rule.quantity, rule.statistic)) {
      add(kRequests, std::move(*measured));
    }
  }
  for (const Comparison& of_gpu : memory.compared) add(of_gpu.stage, of_gpu);
  for (const std::string& gpu : memory.missing) {
    results.push_back(result_of(rule));
    results.back().stage = gpu;
  }
  for (const StageQuantities& stage : stages) {
    if (rule.quantity.is_of_memory()) break;
    if (rule.stage && *rule.stage != stage.stage()) continue;
    const auto& named = rule.quantity.kernel_class;
    if (named && std::ranges::find(stage.classes(), *named) == stage.classes().end()) continue;
    auto measured = stage.compare(rule.quantity, rule.statistic);
    if (measured) add(stage.stage(), std::move(*measured));
  }
  if (results.empty()) {
    results.push_back(result_of(rule));
    results.back().stage = rule.stage.value_or("");
  }
  return results;
}

Verdict verdict_of(std::span<const GateResult> results) {
  const auto any = [&](Verdict outcome) {
    return std::ranges::any_of(results,
                               [&](const GateResult& result) { return result.outcome == outcome; });
  };
  if (any(Verdict::fail)) return Verdict::fail;
  return any(Verdict::cannot_tell) ? Verdict::cannot_tell : Verdict::pass;
}

}  // namespace llmprof::compare
