#include "session/analysis/analyze.h"

#include <utility>

#include "analysis/analyze.h"
#include "report/documents/bundle_reports.h"
#include "report/documents/word.h"
#include "session/analysis/exports.h"
#include "session/analysis/no_kernels.h"
#include "session/analysis/plan.h"

namespace llmprof::session {
namespace {

OutputFolder output_folder(const AnalyzeOptions& options) {
  if (options.in_place) return {options.inputs.front(), true};
  return {options.out, options.force};
}

void add_timings(std::vector<analysis::PassTiming> passes, std::vector<PartTiming>& timings) {
  for (analysis::PassTiming& pass : passes) {
    PartTiming& part = timings.emplace_back();
    part.name = "analysis: " + pass.name;
    part.time = std::chrono::nanoseconds(pass.time);
    if (!pass.skipped.empty()) part.skipped = std::move(pass.skipped);
  }
}

Result<void> write_bundle(const AnalyzeOptions& options, OutputFolder& out, Analysis& analysis) {
  const auto artifacts = out.open();
  if (!artifacts) return fail_with(artifacts.error());
  analysis.folder = artifacts->root();
  auto written = report::write_reports(analysis.profile, analysis.folder,
                                       options.top.value_or(report::kAllKernels));
  if (!written) return fail_with(written.error());
  analysis.files = std::move(written->files);
  analysis.json = std::move(written->json);
  return {};
}

Result<void> write_page(const exports::ExportSource& source, Analysis& analysis) {
  page::Content content{analysis.profile, analysis.json, {}, std::nullopt};
  const auto bundle = page::embedded_bundle();
  if (bundle) add_timeline(source, content);
  auto outcome = write_run_page(bundle, content, analysis.folder);
  if (!outcome) return fail_with(outcome.error());
  analysis.page = std::move(*outcome);
  return {};
}

void export_bundle(const AnalyzeOptions& options, const exports::ExportSource& source,
                   Progress& progress, Analysis& analysis) {
  if (!options.exports.any()) return;
  progress.begin("writing files for other viewers");
  const Stopwatch exporting;
  WrittenExports written = write_exports(options.exports, source, analysis.folder);
  analysis.files.insert(analysis.files.end(), written.files.begin(), written.files.end());
  analysis.not_exported = std::move(written.failed);
  analysis.timings.push_back({"writing files for other viewers", exporting.elapsed()});
}

// A trace without kernels may still hold a framework's operators, or a GPU's copies and graphs.
bool holds_nothing(const profile::Profile& profile) {
  const bool operators = !profile.operators.empty() && profile.operators_found.source;
  return profile.kernels.empty() && profile.device_time.empty() && !operators;
}

}  // namespace

Result<AnalyzedInputs> analyze_in_memory(const AnalyzeOptions& options, std::string_view version,
                                         Progress& progress, OutputFolder& out, Reading reading) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  reading.add(plan->inputs, out, progress);
  plan->notes.merge(reading.notes());
  complete_plan(reading.trace().workload, *plan);
  AnalyzedInputs result;
  Analysis& analysis = result.analysis;
  analysis.timings = reading.timings();
  progress.begin("joining launches");
  const Stopwatch joining;
  auto frozen = std::move(reading).freeze(plan->notes);
  if (!frozen) return fail_with(frozen.error());
  analysis.timings.push_back({"joining launches", joining.elapsed()});

  progress.begin("preparing the analysis");
  if (frozen->operators) plan->options.operators_of = &*frozen->operators;
  if (frozen->control) plan->options.control = &*frozen->control;
  plan->options.tool_version = version;
  auto analyzed = analysis::analyze(frozen->trace, plan->rules, plan->options, &progress);
  if (!analyzed) return fail_with(analyzed.error());
  add_timings(std::move(analyzed->timings), analysis.timings);
  if (holds_nothing(analyzed->profile)) {
    return fail_with(no_kernels(frozen->trace, analyzed->profile, !options.in_place));
  }
  analysis.incomplete = std::move(frozen->incomplete);
  analysis.profile = std::move(analyzed->profile);
  report::word(analysis.profile);
  result.trace = std::move(frozen->trace);
  result.results = std::move(analyzed->results);
  return result;
}

Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         Progress& progress, Reading reading) {
  OutputFolder out = output_folder(options);
  auto analyzed = analyze_in_memory(options, version, progress, out, std::move(reading));
  if (!analyzed) return fail_with(analyzed.error());
  Analysis& analysis = analyzed->analysis;
  progress.begin("writing the bundle");
  const Stopwatch writing;
  if (auto done = write_bundle(options, out, analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the bundle", writing.elapsed()});
  progress.begin("writing the page");
  const Stopwatch page;
  const exports::ExportSource source{analyzed->trace, analyzed->results, version};
  if (auto done = write_page(source, analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the page", page.elapsed()});
  export_bundle(options, source, progress, analysis);
  return std::move(analysis);
}

}  // namespace llmprof::session
