#include "session/analysis/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/analyze.h"
#include "base/diagnostics.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "job/partial/partial.h"
#include "profile/lost_data.h"
#include "readers/shared/reader.h"
#include "report/documents/documents.h"
#include "session/analysis/analyze_ranks.h"
#include "session/version.h"

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

// A trace without kernels may still contain framework operators, GPU copies and graphs,
// requests, or memory.
bool holds_nothing(const profile::Profile& profile) {
  const bool operators = !profile.operators.empty() && profile.operators_found.source;
  return profile.kernels.empty() && profile.device_time.empty() && !operators &&
         !profile.requests && !profile.memory && !profile.memory_ledger;
}

void check_free(const JobInputs& job, const AnalyzeOptions& options) {
  if (!options.out || options.force) return;
  for (const RankInputs& rank : job.ranks) {
    const fs::path file = *options.out / job::partial_name(rank.rank);
    if (path_exists(file)) {
      give_up(ErrorKind::usage,
              fmt::format("{}: exists already; choose another folder with --out, or use --force to "
                          "replace it",
                          file.string()));
    }
  }
}

// The error if no input is a capture that names its rank.
Error without_ranks(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    const auto head = read_head(input.path, readers::kHeadBytes);
    if (!head) return head.error();
    const Content content = content_of(input.path);
    if (content.reader == nullptr && !content.is_report) {
      return readers::unreadable(input.path, *head);
    }
  }
  return {ErrorKind::input,
          fmt::format("{}: no capture names its rank; llmprof's own logs, PyTorch traces of a "
                      "distributed program and files named like trace_rank3.sqlite do",
                      inputs.empty() ? std::string("no input") : inputs.front().path.string())};
}

// A collector log without work whose diagnostics do not already say why.
bool is_log_without_work(const trace::Trace& trace) {
  const Diagnostics& diagnostics = trace.diagnostics;
  if (diagnostics.has("collector_never_armed") || diagnostics.has("collector_stood_down")) {
    return false;
  }
  return std::ranges::any_of(trace.captures, [](const trace::Capture& capture) {
    return capture.tool == trace::kCollectorTool;
  });
}

// What the user can do about it; empty if the diagnostics already say it.
std::string remedy(const trace::Trace& trace) {
  if (trace.profiled_launches.size() > 0) {
    return fmt::format(
        "\n  launches were profiled ({}), but not their durations; profile again with `--metrics "
        "gpu__time_duration.sum` or `--section SpeedOfLight`",
        trace.profiled_launches.size());
  }
  if (!trace.call_summaries.empty()) {
    return "\n  the file holds reports on ranges or API calls only; add a kernel report: `nsys "
           "stats --report cuda_gpu_kern_sum --format csv REPORT.nsys-rep`";
  }
  if (is_log_without_work(trace)) {
    return "\n  the program's own log holds ranges but no operators: record them with "
           "llmprof_operator (docs/collector.md), or capture the kernels of a GPU program with "
           "nsys as well (`nsys profile --trace cuda,nvtx`)";
  }
  if (trace.workload) {
    return "\n  Stage 1 metrics are what the workload measured itself; also name a capture of the "
           "same program (nsys, ncu, or a PyTorch trace)";
  }
  return {};
}

// Why a trace has no kernels to rank and what to record instead, based on the readers' diagnostics.
// `list_failures` adds the captures that failed; a run reports those itself.
Error no_kernels(const trace::Trace& trace, const profile::Profile& profile, bool list_failures) {
  std::string files;
  for (const trace::Capture& capture : trace.captures) {
    if (!files.empty()) files += ", ";
    files += capture.path;
  }
  const bool damaged = std::ranges::any_of(profile.diagnostics, [&](const Diagnostic& item) {
    return item.code != "collector_log_empty" &&
           profile::means_lost_data(item, profile.totals.source);
  });
  // A damaged file does not show what was not recorded, so it gets no remedy.
  std::string message = damaged ? fmt::format("{}: damaged; no kernels in it could be read", files)
                                : fmt::format("{}: no kernels to analyze", files) + remedy(trace);
  if (list_failures) {
    for (const profile::CaptureFailure& failure : profile.captures_failed) {
      message += fmt::format("\n  {} failed: {}", failure.backend, failure.message);
    }
  }
  for (const Diagnostic& item : profile.diagnostics) {
    if (item.severity != Severity::info) message += "\n  " + item.message;
  }
  return {ErrorKind::input, message};
}

// Runs before anything is written. `traces` may be null.
Analysis analyze_all(AnalysisPlan plan, const AnalyzeOptions& options, Progress& progress,
                     OutputFolder& out, Reading reading, KeptTraces* traces) {
  const JobInputs job = inputs_of_job(plan.inputs, options.inputs);
  if (job.several()) {
    Analysis analysis;
    auto parts = analyze_ranks(plan, job, options, progress, out, traces, analysis);
    return job_profile(std::move(parts), options, progress, std::move(analysis));
  }
  AnalyzedInputs analyzed =
      analyze_planned(std::move(plan), !options.in_place, progress, out, std::move(reading));
  if (traces != nullptr) {
    traces->keep(std::nullopt, std::move(analyzed.trace), std::move(analyzed.results));
  }
  return std::move(analyzed.analysis);
}

}  // namespace

AnalyzedInputs analyze_planned(AnalysisPlan plan, bool list_failures, Progress& progress,
                               OutputFolder& out, Reading reading) {
  reading.add(plan.inputs, out, progress);
  plan.notes.merge(reading.notes());
  complete_plan(reading.trace().workload, plan);
  AnalyzedInputs result;
  Analysis& analysis = result.analysis;
  analysis.timings = reading.timings();
  FrozenReading frozen = timed("joining launches", progress, analysis.timings,
                               [&] { return std::move(reading).freeze(plan.notes); });

  progress.begin("preparing the analysis");
  if (frozen.operators) plan.options.operators_of = &*frozen.operators;
  if (frozen.control) plan.options.control = &*frozen.control;
  plan.options.tool_version = kVersion;
  const auto rules = needed(plan.rules.get());
  auto analyzed = needed(analysis::analyze(frozen.trace, *rules, plan.options, &progress));
  add_timings(std::move(analyzed.timings), analysis.timings);
  if (holds_nothing(analyzed.profile)) {
    throw Failure(no_kernels(frozen.trace, analyzed.profile, list_failures));
  }
  analysis.incomplete = std::move(frozen.incomplete);
  analysis.profile = std::move(analyzed.profile);
  report::word(analysis.profile);
  result.trace = std::move(frozen.trace);
  result.results = std::move(analyzed.results);
  return result;
}

Result<Analysis> analyze(const AnalyzeOptions& options, Progress& progress, Reading reading) {
  return attempt([&] {
    OutputFolder out = output_folder(options);
    AnalysisPlan plan = plan_analysis(options);
    out.claim();
    KeptTraces traces;
    auto analysis =
        analyze_all(std::move(plan), options, progress, out, std::move(reading), &traces);
    return write_outputs(options, traces, progress, out, std::move(analysis));
  });
}

Result<Analysis> analyze_to_profile(const AnalyzeOptions& options, Progress& progress,
                                    OutputFolder& out, KeptTraces* traces) {
  return attempt(
      [&] { return analyze_all(plan_analysis(options), options, progress, out, {}, traces); });
}

Result<Analysis> analyze_partially(const AnalyzeOptions& options, Progress& progress) {
  return attempt([&] {
    // Other ranks may be writing into this folder; this rank's existing file is not overwritten.
    OutputFolder out = OutputFolder::shared(options.out);
    const AnalysisPlan plan = plan_analysis(options);
    const JobInputs job = inputs_by_rank(plan.inputs, options.inputs);
    if (job.ranks.empty()) throw Failure(without_ranks(plan.inputs));
    check_free(job, options);
    Analysis written;
    const auto parts = analyze_ranks(plan, job, options, progress, out, nullptr, written);
    progress.begin("writing the partial profiles");
    const Artifacts folder = out.open();
    written.folder = folder.root();
    for (const job::RankPart& part : parts) {
      const std::string name = job::partial_name(part.identity.rank);
      needed(job::write_partial(folder.path(name), part, options.force || !options.out));
      written.files.push_back(name);
    }
    return written;
  });
}

}  // namespace llmprof::session
