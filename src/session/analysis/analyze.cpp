#include "session/analysis/analyze.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/analyze.h"
#include "base/streams/byte_stream.h"
#include "job/partial/partial.h"
#include "readers/detect.h"
#include "report/documents/word.h"
#include "session/analysis/analyze_job.h"
#include "session/analysis/analyze_ranks.h"
#include "session/analysis/exports.h"
#include "session/analysis/no_kernels.h"
#include "session/analysis/read_input.h"
#include "session/analysis/write_bundle.h"

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

Result<void> check_free(const JobInputs& job, const AnalyzeOptions& options) {
  if (!options.out || options.force) return {};
  for (const RankInputs& rank : job.ranks) {
    const std::filesystem::path file = *options.out / job::partial_name(rank.rank);
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
      return fail(ErrorKind::usage,
                  fmt::format("{}: exists already; choose another folder with --out, or use "
                              "--force to replace it",
                              file.string()));
    }
  }
  return {};
}

// Of captures none of which is a rank's, or that are none.
Error without_ranks(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    const auto head = read_head(input.path, readers::kHeadBytes);
    if (!head) return head.error();
    if (content_of(input.path) == Content::unknown) {
      return readers::unreadable(input.path, *head);
    }
  }
  return {ErrorKind::input,
          fmt::format("{}: no capture says which rank of a job it is of; llmprof's own logs and "
                      "PyTorch traces of a distributed program do, and so does a file named like "
                      "trace_rank3.sqlite",
                      inputs.empty() ? std::string("no input") : inputs.front().path.string())};
}

Analysis so_far(AnalyzedRanks&& ranks) {
  Analysis analysis;
  analysis.incomplete = std::move(ranks.incomplete);
  analysis.timings = std::move(ranks.timings);
  return analysis;
}

}  // namespace

Result<AnalyzedInputs> analyze_in_memory(const AnalyzeOptions& options, std::string_view version,
                                         Progress& progress, OutputFolder& out, Reading reading) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  return analyze_planned(std::move(*plan), !options.in_place, version, progress, out,
                         std::move(reading));
}

Result<AnalyzedInputs> analyze_planned(AnalysisPlan plan, bool list_failures,
                                       std::string_view version, Progress& progress,
                                       OutputFolder& out, Reading reading) {
  reading.add(plan.inputs, out, progress);
  plan.notes.merge(reading.notes());
  complete_plan(reading.trace().workload, plan);
  AnalyzedInputs result;
  Analysis& analysis = result.analysis;
  analysis.timings = reading.timings();
  progress.begin("joining launches");
  const Stopwatch joining;
  auto frozen = std::move(reading).freeze(plan.notes);
  if (!frozen) return fail_with(frozen.error());
  analysis.timings.push_back({"joining launches", joining.elapsed()});

  progress.begin("preparing the analysis");
  if (frozen->operators) plan.options.operators_of = &*frozen->operators;
  if (frozen->control) plan.options.control = &*frozen->control;
  plan.options.tool_version = version;
  const auto& rules = plan.rules.get();
  if (!rules) return fail_with(rules.error());
  auto analyzed = analysis::analyze(frozen->trace, **rules, plan.options, &progress);
  if (!analyzed) return fail_with(analyzed.error());
  add_timings(std::move(analyzed->timings), analysis.timings);
  if (holds_nothing(analyzed->profile)) {
    return fail_with(no_kernels(frozen->trace, analyzed->profile, list_failures));
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
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  if (auto free = out.claim(); !free) return fail_with(free.error());
  if (const JobInputs job = inputs_of_job(plan->inputs, options.inputs); job.several()) {
    auto ranks = analyze_ranks(*plan, job, options, Traces::keep, version, progress, out);
    if (!ranks) return fail_with(ranks.error());
    const RankTraces traces = std::move(ranks->traces);
    return write_job(std::move(ranks->parts), traces, options, version, progress, out,
                     so_far(std::move(*ranks)));
  }
  auto analyzed = analyze_planned(std::move(*plan), !options.in_place, version, progress, out,
                                  std::move(reading));
  if (!analyzed) return fail_with(analyzed.error());
  Analysis& analysis = analyzed->analysis;
  progress.begin("writing the bundle");
  const Stopwatch writing;
  const exports::ExportSource source{analyzed->trace, analyzed->results, version};
  PageTimeline timeline = begin_page_timeline(source);
  if (auto done = write_bundle(options, out, analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the bundle", writing.elapsed()});
  progress.begin("writing the page");
  const Stopwatch page;
  if (auto done = write_page(std::move(timeline), analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the page", page.elapsed()});
  export_bundle(options, source, progress, analysis);
  return std::move(analysis);
}

Result<Analysis> analyze_to_profile(const AnalyzeOptions& options, std::string_view version,
                                    Progress& progress, OutputFolder& out) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  if (const JobInputs job = inputs_of_job(plan->inputs, options.inputs); job.several()) {
    auto ranks = analyze_ranks(*plan, job, options, Traces::drop, version, progress, out);
    if (!ranks) return fail_with(ranks.error());
    auto profile = job_profile(std::move(ranks->parts), options, version, progress);
    if (!profile) return fail_with(profile.error());
    Analysis analysis = so_far(std::move(*ranks));
    analysis.profile = std::move(*profile);
    return analysis;
  }
  auto analyzed = analyze_planned(std::move(*plan), !options.in_place, version, progress, out, {});
  if (!analyzed) return fail_with(analyzed.error());
  return std::move(analyzed->analysis);
}

Result<WrittenPartials> analyze_partially(const AnalyzeOptions& options, std::string_view version,
                                          Progress& progress) {
  // Other ranks may write into the same folder now; a file of this one is not overwritten.
  OutputFolder out = OutputFolder::shared(options.out);
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  const JobInputs job = inputs_by_rank(plan->inputs, options.inputs);
  if (job.ranks.empty()) {
    return fail_with(without_ranks(plan->inputs));
  }
  if (auto free = check_free(job, options); !free) return fail_with(free.error());
  auto ranks = analyze_ranks(*plan, job, options, Traces::drop, version, progress, out);
  if (!ranks) return fail_with(ranks.error());
  progress.begin("writing the partial profiles");
  const auto folder = out.open();
  if (!folder) return fail_with(folder.error());
  WrittenPartials written;
  written.folder = folder->root();
  written.timings = std::move(ranks->timings);
  written.incomplete = std::move(ranks->incomplete);
  for (const job::RankPart& part : ranks->parts) {
    const std::string name = job::partial_name(part.identity.rank);
    const bool replace = options.force || !options.out;
    if (auto done = job::write_partial(folder->path(name), part, replace); !done) {
      return fail_with(done.error());
    }
    written.files.push_back(name);
  }
  return written;
}

}  // namespace llmprof::session
