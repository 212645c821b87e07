#include "session/diff/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/shown/shown.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/compare.h"
#include "compare/gate/gate.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "config/settings.h"
#include "page/page.h"
#include "profile/json/json.h"
#include "report/diff/diff_report.h"
#include "report/format/words.h"
#include "report/writers/writers.h"
#include "session/analysis/analyze.h"
#include "session/bundle/bundle_files.h"
#include "session/bundle/inputs.h"
#include "session/bundle/run_dir.h"
#include "session/version.h"

namespace llmprof::session {
namespace {

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  if (fs::is_regular_file(a, missing) && fs::equivalent(a, b, missing)) return true;
  return a == b && a != "-" && !fs::is_other(fs::status(a, missing));
}

// For the files that the user named in addition to the folder (--junit, --summary): refuses, before
// anything is read, a file that is one of the sides, or the same file for both.
void check_named_outputs(const DiffOptions& options) {
  const auto check = [&](std::string_view option, const std::optional<fs::path>& file) {
    if (!file) return;
    const auto is_input = [&](const fs::path& input) {
      return is_same_file(*file, input) || is_same_file(*file, input / "profile.json");
    };
    if (std::ranges::none_of(options.base, is_input) && std::ranges::none_of(options.now, is_input))
      return;
    give_up(ErrorKind::usage,
            fmt::format("{}: {} is one of the runs to compare, which it would replace; name "
                        "another file",
                        option, file->string()));
  };
  check("--junit", options.junit);
  check("--summary", options.summary);
  if (options.junit && options.summary && is_same_file(*options.junit, *options.summary)) {
    give_up(ErrorKind::usage, fmt::format("--junit and --summary both name {}; name two files",
                                          options.summary->string()));
  }
}

bool is_rule(std::string_view text) { return contains(text, "<=") || contains(text, ">="); }

// "1%", "0.5 %".
double parse_threshold(std::string_view text, std::string_view from) {
  std::string_view digits = trim(text);
  if (digits.ends_with('%')) digits = trim(digits.substr(0, digits.size() - 1));
  const auto value = parse_decimal(digits);
  const bool is_percentage = value && *value >= 0 && *value < kPercent;  // also rejects NaN
  if (!is_percentage) {
    give_up(ErrorKind::usage, fmt::format("{}: '{}' is not a percentage from 0% to 100%; write "
                                          "it as 1% or 0.5%",
                                          from, to_printable(text)));
  }
  return *value / kPercent;
}

// Accepts a class by its name in profile.json or by the name shown in reports.
void name_class(compare::Rule& rule) {
  auto& named = rule.quantity.kernel_class;
  if (!named || profile::is_known(*named)) return;
  const std::string_view wanted = to_string(*named);
  for (const auto& known : profile::kWords<profile::KernelClass>) {
    if (wanted != report::shown_text(known.name)) continue;
    named = known.value;
    return;
  }
  give_up(ErrorKind::usage, fmt::format("gate rule '{}': unknown class '{}'; available: {}",
                                        to_printable(rule.text), to_printable(wanted),
                                        fmt::join(profile::kNames<profile::KernelClass>, ", ")));
}

compare::Rule read_rule(std::string_view text, std::string_view from) {
  compare::Rule rule = needed(compare::parse_rule(text, from));
  name_class(rule);
  return rule;
}

struct GateRules {
  std::vector<compare::Rule> rules;
  double threshold = compare::kDefaultThreshold;  // relative
};

void add_file(const std::string& name, const config::ConfFiles& conf, GateRules& into) {
  const auto layers = needed(conf.layers(fmt::format("gate/{}.yaml", name)));
  if (layers.empty()) {
    give_up(ErrorKind::usage,
            fmt::format("unknown value '{}' for --gate; available: {}, or a rule such as "
                        "decode.step.p50<=+2%",
                        to_printable(name), fmt::join(conf.names_in("gate"), ", ")));
  }
  const config::ConfText& file = layers.front();
  const auto document = needed(config::parse_yaml(file.text, file.name));
  config::Settings settings(document, document.root);
  const std::vector<std::string> rules = settings.texts("rules");
  const auto own_threshold = settings.optional_text("threshold");
  settings.refuse_unknown_keys();
  if (own_threshold) into.threshold = parse_threshold(*own_threshold, file.name);
  for (const std::string& text : rules) {
    const auto rule = attempt([&] { return read_rule(text, file.name); });
    if (!rule) throw Failure(rule.error().within(file.name));
    into.rules.push_back(*rule);
  }
}

// `gates` are rules, or names of conf/gate/NAME.yaml, which contain `rules` and may contain
// `threshold`. The user's `threshold` has precedence over that of a file.
GateRules load_gate_rules(const DiffOptions& options) {
  GateRules found;
  const auto conf = needed(config::ConfFiles::open(options.config_folder));
  for (const std::string& gate : options.gates) {
    if (is_rule(gate)) {
      found.rules.push_back(read_rule(gate, "command line"));
    } else {
      add_file(gate, conf, found);
    }
  }
  if (options.threshold) found.threshold = parse_threshold(*options.threshold, "--threshold");
  return found;
}

void write_all(const DiffOptions& options, DiffOutcome& outcome) {
  const Artifacts folder = options.out ? Artifacts::create(*options.out, options.force)
                                       : Artifacts::create_fresh(fs::path("tmp") / "diff");
  outcome.folder = folder.root();
  outcome.files = {"diff.md", "diff.json"};
  folder.write("diff.md", report::to_markdown(report::diff_report(outcome.diff)));
  folder.write("diff.json", outcome.json);
  outcome.page =
      write_page_file(page::embedded_bundle(), folder.root(), [&](const page::Bundle& bundle) {
        return page::make_diff_page(bundle, outcome.diff, outcome.json);
      });
  if (options.junit) {
    needed(write_named_file(*options.junit, report::diff_junit(outcome.diff)));
  }
  if (options.summary) {
    needed(write_named_file(*options.summary, report::diff_summary(outcome.diff)));
  }
}

// The runs that a path of a side stands for: a folder of repeats holds several.
std::vector<fs::path> runs_of(const fs::path& path) {
  std::vector<fs::path> repeats = repeats_in(path);
  if (repeats.empty()) return {path};
  if (!repeats.front().filename().string().starts_with("run-")) {
    give_up(ErrorKind::usage,
            fmt::format("{}: it holds both sides of a comparison, whose result is in {}; name runs "
                        "in it, such as {}",
                        path.string(), (path / "diff").string(), repeats.front().string()));
  }
  return repeats;
}

// Reads each run of a side, analyzes it if necessary, and times both.
class SideReader {
 public:
  SideReader(const std::optional<fs::path>& config_folder, Progress& progress,
             std::vector<PartTiming>& timings)
      : config_folder_(config_folder), progress_(progress), timings_(timings) {}

  compare::Run read(const fs::path& path) const {
    fs::path input = path;
    if (!path_exists(input)) {
      if (const auto known = list_artifacts(path)) input = known->folder;
    }
    fs::path file = input;
    if (is_folder(input)) file = input / "profile.json";
    if (!is_file(file) || !is_profile(file)) return analyzed(path, input);
    progress_.begin("reading " + file.string());
    const Stopwatch reading;
    profile::Profile profile = needed(profile::read_profile(file));
    analysis::complete_shown(profile);
    timings_.push_back({"reading " + file.string(), reading.elapsed()});
    // Data that an earlier version did not write to profile.json is read from the captures.
    const bool earlier = profile.kernel_sequences.empty() && !profile.stages.empty();
    if (earlier && is_run_folder(input)) {
      if (auto again = attempt([&] { return analyzed(path, input); })) return std::move(*again);
    }
    return {path.string(), is_run_folder(input) ? compare::RunKind::run : compare::RunKind::profile,
            std::move(profile)};
  }

 private:
  // Reading the captures is timed separately from the rest.
  [[nodiscard]] compare::Run analyzed(const fs::path& path, const fs::path& input) const {
    const Stopwatch analyzing;
    AnalyzeOptions options;
    options.inputs = {input};
    options.config_folder = config_folder_;
    OutputFolder out(std::nullopt, false);
    Analysis analysis = needed(analyze_to_profile(options, progress_, out));
    auto rest = analyzing.elapsed();
    for (const PartTiming& part : analysis.timings) {
      if (!part.name.starts_with("reading ")) continue;
      timings_.push_back(part);
      rest -= part.time;
    }
    timings_.push_back({"analyzing " + path.string(), rest});
    if (analysis.incomplete) throw Failure(*analysis.incomplete);
    return {path.string(), is_run_folder(input) ? compare::RunKind::run : compare::RunKind::capture,
            std::move(analysis.profile)};
  }

  const std::optional<fs::path>& config_folder_;
  Progress& progress_;
  std::vector<PartTiming>& timings_;
};

}  // namespace

Result<DiffOutcome> diff(const DiffOptions& options, Progress& progress) {
  return attempt([&] {
    GateRules rules = load_gate_rules(options);
    check_named_outputs(options);
    DiffOutcome outcome;
    const auto side = [&](const std::vector<fs::path>& paths) {
      return read_side(paths, options.config_folder, progress, outcome.timings);
    };
    const auto base = side(options.base);
    const auto now = side(options.now);
    outcome.diff = timed("comparing", progress, outcome.timings, [&] {
      compare::Diff found = compare::compare(
          {base, now}, {rules.threshold, std::move(rules.rules), std::string(kVersion)});
      report::word_diff(found);
      return found;
    });
    const Stopwatch writing;
    outcome.json = profile::json::described_to_json(outcome.diff);
    write_all(options, outcome);
    outcome.timings.push_back({"writing", writing.elapsed()});
    return outcome;
  });
}

int exit_code(const compare::Diff& diff) {
  constexpr int kGateFailed = 5;
  if (diff.verdict == compare::Verdict::fail) return kGateFailed;
  return diff.verdict == compare::Verdict::pass ? 0 : static_cast<int>(ErrorKind::input);
}

std::vector<compare::Run> read_side(std::span<const fs::path> paths,
                                    const std::optional<fs::path>& config_folder,
                                    Progress& progress, std::vector<PartTiming>& timings) {
  const SideReader reader(config_folder, progress, timings);
  std::vector<compare::Run> runs;
  for (const fs::path& path : paths) {
    for (const fs::path& run : runs_of(path)) runs.push_back(reader.read(run));
  }
  return runs;
}

}  // namespace llmprof::session
