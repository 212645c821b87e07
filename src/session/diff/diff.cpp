#include "session/diff/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/shown/shown.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "compare/compare.h"
#include "compare/gate/gate.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "config/settings.h"
#include "page/diff_page.h"
#include "profile/json/reader.h"
#include "profile/json/writer.h"
#include "report/diff/diff_report.h"
#include "report/diff/diff_words.h"
#include "report/format/part_names.h"
#include "report/markdown/markdown.h"
#include "session/analysis/analyze.h"
#include "session/bundle/inputs.h"
#include "session/bundle/list_artifacts.h"
#include "session/bundle/run_dir.h"
#include "session/version.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  if (fs::is_regular_file(a, missing) && fs::equivalent(a, b, missing)) return true;
  return a == b && a != "-" && !fs::is_other(fs::status(a, missing));
}

Result<void> check_not_a_side(std::string_view option, const fs::path& file,
                              const std::vector<fs::path>& side) {
  for (const fs::path& input : side) {
    if (!is_same_file(file, input) && !is_same_file(file, input / "profile.json")) continue;
    return fail(ErrorKind::usage,
                fmt::format("{}: {} is one of the runs to compare, which it would replace; name "
                            "another file",
                            option, file.string()));
  }
  return {};
}

// Of the files that the user named besides the folder (--junit, --summary): refuses, before
// anything is read, one that is one of the sides, or both outputs at once.
Result<void> check_named_outputs(const DiffOptions& options) {
  struct Output {
    std::string_view option;
    const std::optional<fs::path>& file;
  };
  for (const Output& output :
       {Output{"--junit", options.junit}, Output{"--summary", options.summary}}) {
    if (!output.file) continue;
    for (const auto* side : {&options.base, &options.now}) {
      if (auto done = check_not_a_side(output.option, *output.file, *side); !done) return done;
    }
  }
  if (options.junit && options.summary && is_same_file(*options.junit, *options.summary)) {
    return fail(ErrorKind::usage, fmt::format("--junit and --summary both name {}; name two files",
                                              options.summary->string()));
  }
  return {};
}

Result<void> write_named_outputs(const DiffOptions& options, const compare::Diff& diff) {
  if (options.junit) {
    if (auto done = write_named_file(*options.junit, report::diff_junit(diff)); !done) return done;
  }
  if (!options.summary) return {};
  return write_named_file(*options.summary, report::diff_summary(diff));
}

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
  for (const std::string_view known : profile::kNames<profile::KernelClass>) {
    if (wanted != known && wanted != report::shown_text(known)) continue;
    rule.quantity = fmt::format("{}{}", kClass, known);
    return {};
  }
  return fail(
      ErrorKind::usage,
      fmt::format("gate rule '{}': unknown class '{}'; available: {}", to_printable(rule.text),
                  to_printable(wanted), fmt::join(profile::kNames<profile::KernelClass>, ", ")));
}

Result<compare::Rule> read_rule(std::string_view text, std::string_view from) {
  auto rule = compare::parse_rule(text, from);
  if (!rule) return rule;
  if (auto known = check_class(*rule); !known) return fail_with(known.error());
  return rule;
}

struct GateRules {
  std::vector<compare::Rule> rules;
  double threshold = 0;  // relative
};

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

// `gates` are rules, or names of conf/gate/NAME.yaml, which hold `rules` and may hold `threshold`.
// `threshold` is what the user typed, and holds before that of a file.
Result<GateRules> load_gate_rules(const std::vector<std::string>& gates,
                                  const std::optional<std::string>& threshold,
                                  const std::optional<fs::path>& config_folder) {
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

Result<void> write_all(const DiffOptions& options, DiffOutcome& outcome) {
  const auto folder = options.out ? Artifacts::create(*options.out, options.force)
                                  : Artifacts::create_fresh(fs::path("tmp") / "diff");
  if (!folder) return fail_with(folder.error());
  outcome.folder = folder->root();
  outcome.files = {"diff.md", "diff.json"};
  auto written = folder->write("diff.md", report::to_markdown(report::diff_report(outcome.diff)))
                     .and_then([&] { return folder->write("diff.json", outcome.json); });
  if (!written) return written;
  auto page =
      write_page_file(page::embedded_bundle(), folder->root(), [&](const page::Bundle& bundle) {
        return page::make_diff_page(bundle, {outcome.diff, outcome.json});
      });
  if (!page) return fail_with(page.error());
  outcome.page = std::move(*page);
  return write_named_outputs(options, outcome.diff);
}

// By its first field: a PyTorch trace is JSON too.
bool is_profile(const fs::path& file) {
  constexpr size_t kHead = 256;
  std::string head(kHead, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.starts_with('{') && contains(head, "\"schema_version\"");
}

// Reading the captures apart from all that follows.
void add_timings(const Analysis& analysis, std::chrono::nanoseconds all, const fs::path& path,
                 std::vector<PartTiming>& timings) {
  for (const PartTiming& part : analysis.timings) {
    if (!part.name.starts_with("reading ")) continue;
    timings.push_back(part);
    all -= part.time;
  }
  timings.push_back({"analyzing " + path.string(), all});
}

Result<compare::Run> analyzed(const fs::path& path, const fs::path& input,
                              const std::optional<fs::path>& config_folder, Progress& progress,
                              std::vector<PartTiming>& timings) {
  const Stopwatch analyzing;
  AnalyzeOptions options;
  options.inputs = {input};
  options.config_folder = config_folder;
  OutputFolder out(std::nullopt, false);
  auto analysis = analyze_to_profile(options, progress, out);
  if (!analysis) return fail_with(analysis.error());
  add_timings(*analysis, analyzing.elapsed(), path, timings);
  if (analysis->incomplete) return fail_with(*analysis->incomplete);
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "capture",
                      std::move(analysis->profile)};
}

Result<compare::Run> read_run(const fs::path& path, const std::optional<fs::path>& config_folder,
                              Progress& progress, std::vector<PartTiming>& timings) {
  std::error_code ignored;
  fs::path input = path;
  if (!fs::exists(input, ignored)) {
    if (const auto known = list_artifacts(path)) input = known->folder;
  }
  fs::path file = input;
  if (fs::is_directory(input, ignored)) file = input / "profile.json";
  if (!fs::is_regular_file(file, ignored) || !is_profile(file)) {
    return analyzed(path, input, config_folder, progress, timings);
  }
  progress.begin("reading " + file.string());
  const Stopwatch reading;
  auto profile = profile::read_profile(file);
  if (!profile) return fail_with(profile.error());
  if (!profile->token_times.shown) analysis::add_shown(*profile);  // a file of an earlier llmprof
  timings.push_back({"reading " + file.string(), reading.elapsed()});
  // Data that an earlier version did not write to profile.json is read from the captures.
  const bool earlier = profile->kernel_sequences.empty() && !profile->stages.empty();
  if (earlier && is_run_folder(input)) {
    if (auto again = analyzed(path, input, config_folder, progress, timings)) return again;
  }
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "profile", std::move(*profile)};
}

}  // namespace

Result<DiffOutcome> diff(const DiffOptions& options, Progress& progress) {
  auto rules = load_gate_rules(options.gates, options.threshold, options.config_folder);
  if (!rules) return fail_with(rules.error());
  if (auto named = check_named_outputs(options); !named) return fail_with(named.error());
  DiffOutcome outcome;
  const auto base = read_side(options.base, options.config_folder, progress, outcome.timings);
  if (!base) return fail_with(base.error());
  const auto now = read_side(options.now, options.config_folder, progress, outcome.timings);
  if (!now) return fail_with(now.error());
  outcome.diff = timed("comparing", progress, outcome.timings, [&] {
    compare::Diff found = compare::compare(
        {*base, *now}, {rules->threshold, std::move(rules->rules), std::string(kVersion)});
    report::word_diff(found);
    return found;
  });
  const Stopwatch writing;
  outcome.json = profile::json::described_to_json(outcome.diff);
  if (auto done = write_all(options, outcome); !done) return fail_with(done.error());
  outcome.timings.push_back({"writing", writing.elapsed()});
  return outcome;
}

int exit_code(const compare::Diff& diff) {
  constexpr int kGateFailed = 5;
  if (diff.verdict == compare::Verdict::fail) return kGateFailed;
  return diff.verdict == compare::Verdict::pass ? 0 : static_cast<int>(ErrorKind::input);
}

Result<std::vector<compare::Run>> read_side(std::span<const fs::path> paths,
                                            const std::optional<fs::path>& config_folder,
                                            Progress& progress, std::vector<PartTiming>& timings) {
  std::vector<compare::Run> runs;
  for (const fs::path& path : paths) {
    auto run = read_run(path, config_folder, progress, timings);
    if (!run) return fail_with(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace llmprof::session
