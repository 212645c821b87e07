#include "session/diff/gate_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/naming/classes.h"
#include "base/text.h"
#include "compare/compare.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "config/settings.h"
#include "report/format/part_names.h"

namespace llmprof::session {
namespace {

bool is_rule(std::string_view text) { return contains(text, "<=") || contains(text, ">="); }

// "1%", "0.5 %".
Result<double> parse_threshold(std::string_view text, std::string_view from) {
  constexpr double kPercent = 100;
  std::string_view digits = trim(text);
  if (digits.ends_with('%')) digits = trim(digits.substr(0, digits.size() - 1));
  const auto value = parse_decimal(digits);
  const bool is_percentage = value && *value >= 0 && *value < kPercent;  // not a number: no
  if (!is_percentage) {
    return fail(ErrorKind::usage, fmt::format("{}: '{}' is not a percentage from 0% to 100%; write "
                                              "it as 1% or 0.5%",
                                              from, to_printable(text)));
  }
  return *value / kPercent;
}

// A class by its name in profile.json, or by the one that reports show.
Result<void> check_class(compare::Rule& rule) {
  constexpr std::string_view kClass = "class.";
  const std::string_view quantity = rule.quantity;
  if (!quantity.starts_with(kClass)) return {};
  const std::string_view wanted = quantity.substr(kClass.size());
  for (const std::string_view known : analysis::all_classes()) {
    if (wanted != known && wanted != report::shown_name(known)) continue;
    rule.quantity = fmt::format("{}{}", kClass, known);
    return {};
  }
  return fail(ErrorKind::usage, fmt::format("gate rule '{}': unknown class '{}'; available: {}",
                                            to_printable(rule.text), to_printable(wanted),
                                            fmt::join(analysis::all_classes(), ", ")));
}

Result<compare::Rule> read_rule(std::string_view text, std::string_view from) {
  auto rule = compare::parse_rule(text, from);
  if (!rule) return rule;
  if (auto known = check_class(*rule); !known) return fail_with(known.error());
  return rule;
}

Result<void> add_file(const std::string& name, const config::ConfFiles& conf, GateRules& into,
                      std::optional<double>& threshold) {
  const auto layers = conf.layers(fmt::format("gate/{}.yaml", name));
  if (!layers) return fail_with(layers.error());
  if (layers->empty()) {
    return fail(ErrorKind::usage,
                fmt::format("unknown value '{}' for --gate; available: {}, or a rule such as "
                            "decode.step.p50<=+2%",
                            to_printable(name), fmt::join(conf.names_in("gate"), ", ")));
  }
  const auto document = config::parse_yaml(layers->front().text, layers->front().name);
  if (!document) return fail_with(document.error());
  config::Settings settings(*document, document->root);
  const std::vector<std::string> rules = settings.texts("rules");
  const auto own_threshold = settings.optional_text("threshold");
  settings.refuse_unknown_keys();
  if (auto good = settings.finish(); !good) return fail_with(good.error());
  if (own_threshold) {
    const auto parsed = parse_threshold(*own_threshold, layers->front().name);
    if (!parsed) return fail_with(parsed.error());
    threshold = *parsed;
  }
  for (const std::string& text : rules) {
    auto rule = read_rule(text, layers->front().name);
    if (!rule) return fail_with(rule.error().within(layers->front().name));
    into.rules.push_back(std::move(*rule));
  }
  return {};
}

}  // namespace

Result<GateRules> load_gate_rules(const std::vector<std::string>& gates,
                                  const std::optional<std::string>& threshold,
                                  const std::optional<std::filesystem::path>& config_folder) {
  GateRules found;
  std::optional<double> of_file;
  const auto conf = config::ConfFiles::open(config_folder);
  if (!conf) return fail_with(conf.error());
  for (const std::string& gate : gates) {
    if (!is_rule(gate)) {
      if (auto added = add_file(gate, *conf, found, of_file); !added) {
        return fail_with(added.error());
      }
      continue;
    }
    auto rule = read_rule(gate, "command line");
    if (!rule) return fail_with(rule.error());
    found.rules.push_back(std::move(*rule));
  }
  found.threshold = of_file.value_or(compare::kDefaultThreshold);
  if (threshold) {
    const auto parsed = parse_threshold(*threshold, "--threshold");
    if (!parsed) return fail_with(parsed.error());
    found.threshold = *parsed;
  }
  return found;
}

}  // namespace llmprof::session
