#include "session/diff/diff.h"

#include "compare/compare.h"
#include "page/diff_page.h"
#include "profile/json/described_writer.h"
#include "report/diff/diff_report.h"
#include "report/diff/word_diff.h"
#include "report/markdown/markdown.h"
#include "session/bundle/run_dir.h"
#include "session/diff/gate_rules.h"
#include "session/diff/named_outputs.h"
#include "session/diff/read_side.h"

namespace llmprof::session {
namespace {

Result<void> write_all(const DiffOptions& options, DiffOutcome& outcome) {
  const auto folder = options.out ? Artifacts::create(*options.out, options.force)
                                  : Artifacts::create_fresh(std::filesystem::path("tmp") / "diff");
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

}  // namespace

Result<DiffOutcome> diff(const DiffOptions& options, std::string_view version, Progress& progress) {
  auto rules = load_gate_rules(options.gates, options.threshold, options.config_folder);
  if (!rules) return fail_with(rules.error());
  if (auto named = check_named_outputs(options); !named) return fail_with(named.error());
  DiffOutcome outcome;
  const auto base =
      read_side(options.base, options.config_folder, version, progress, outcome.timings);
  if (!base) return fail_with(base.error());
  const auto now =
      read_side(options.now, options.config_folder, version, progress, outcome.timings);
  if (!now) return fail_with(now.error());
  progress.begin("comparing");
  const Stopwatch comparing_sides;
  compare::CompareOptions comparing;
  comparing.threshold = rules->threshold;
  comparing.rules = std::move(rules->rules);
  comparing.tool_version = version;
  outcome.diff = compare::compare({*base, *now}, comparing);
  report::word_diff(outcome.diff);
  outcome.timings.push_back({"comparing", comparing_sides.elapsed()});
  const Stopwatch writing;
  outcome.json = profile::json::described_to_json(outcome.diff);
  if (auto done = write_all(options, outcome); !done) return fail_with(done.error());
  outcome.timings.push_back({"writing", writing.elapsed()});
  return outcome;
}

int exit_code(const compare::Diff& diff) {
  constexpr int kGateFailed = 5;
  if (diff.verdict == "fail") return kGateFailed;
  return diff.verdict == "pass" ? 0 : static_cast<int>(ErrorKind::input);
}

}  // namespace llmprof::session
