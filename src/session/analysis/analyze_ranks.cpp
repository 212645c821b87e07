#include "session/analysis/analyze_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/conf_files.h"
#include "job/links/links.h"
#include "job/profile/merge_ranks.h"
#include "report/documents/word.h"
#include "session/version.h"

namespace llmprof::session {
namespace {

// As its captures say; of several, the first that does.
void identify(const trace::Trace& trace, job::RankIdentity& who) {
  for (const trace::Capture& capture : trace.captures) {
    if (!who.local_rank) who.local_rank = capture.local_rank;
    if (!who.world_size) who.world_size = capture.world_size;
    if (who.host.empty()) who.host = to_printable(capture.host);
    if (who.job.empty()) who.job = to_printable(capture.job);
    if (!who.wall_clock_ns) who.wall_clock_ns = capture.wall_clock_ns;
    if (who.clock_domain.empty() && !capture.clock_domain.empty()) {
      who.clock_domain = to_printable(capture.clock_domain);
      who.clock_ns = capture.clock_ns;
    }
  }
}

void identify(const RanksRecord& record, job::RankIdentity& who) {
  if (!who.world_size) who.world_size = record.world_size;
  const auto row = std::ranges::find(record.ranks, who.rank, &RankRecord::rank);
  if (row == record.ranks.end()) return;
  who.state = row->state;
  who.state_detail = row->detail;
}

void take_results(AnalyzedInputs& analyzed, job::RankPart& part) {
  part.profile = std::move(analyzed.analysis.profile);
  part.steps = job::PackedSteps(std::exchange(part.profile.steps, {}));
  part.collectives = job::PackedCollectives(std::move(analyzed.results.collectives));
  for (const analysis::Step& step : analyzed.results.stages.steps) {
    part.step_start.push_back(step.start);
    part.step_end.push_back(step.end);
  }
}

// A run folder of its own has records of its own.
Result<AnalysisPlan> plan_of_rank(const AnalysisPlan& plan, const RankInputs& rank,
                                  const AnalyzeOptions& options) {
  AnalysisPlan own = plan;
  own.inputs = rank.inputs;
  const auto& run = rank.inputs.front().run_folder;
  const bool known = options.inputs.size() == 1 && options.inputs.front() == run;
  if (run.empty() || known) return own;
  if (auto done = read_run_records(run, options, own); !done) return fail_with(done.error());
  return own;
}

}  // namespace

Result<std::vector<job::RankPart>> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                                 const AnalyzeOptions& options, Progress& progress,
                                                 OutputFolder& out, KeptTraces* traces,
                                                 Analysis& analysis) {
  std::vector<job::RankPart> parts;
  AnalysisPlan common = plan;
  common.notes.merge(job.notes);  // reported once, with the first rank
  bool any = false;
  for (const RankInputs& rank : job.ranks) {
    job::RankPart& part = parts.emplace_back();
    part.identity.rank = rank.rank;
    identify(job.record, part.identity);
    if (rank.inputs.empty()) continue;
    auto own = plan_of_rank(common, rank, options);
    if (!own) return fail_with(own.error());
    common.notes = {};
    auto analyzed = analyze_planned(std::move(*own), !options.in_place, progress, out);
    if (!analyzed) {
      if (part.identity.state == kRankRecorded) {
        if (!analysis.incomplete) {
          analysis.incomplete = analyzed.error().within(fmt::format("rank {}", rank.rank));
        }
        part.identity.state = kRankMissing;
        part.identity.state_detail = analyzed.error().message;
      }
      continue;
    }
    any = true;
    for (PartTiming& timing : analyzed->analysis.timings) {
      timing.name = fmt::format("rank {}: {}", rank.rank, timing.name);
      analysis.timings.push_back(std::move(timing));
    }
    if (!analysis.incomplete) analysis.incomplete = analyzed->analysis.incomplete;
    identify(analyzed->trace, part.identity);
    take_results(*analyzed, part);
    if (traces != nullptr) {
      traces->keep(rank.rank, std::move(analyzed->trace), std::move(analyzed->results));
    }
  }
  if (any) return parts;
  return fail_with(analysis.incomplete.value_or(
      Error{ErrorKind::input, "no rank of the job left a capture that can be analyzed"}));
}

Result<Analysis> job_profile(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                             Progress& progress, Analysis analysis) {
  auto compared = timed("comparing the ranks", progress, analysis.timings, [&] {
    return config::ConfFiles::open(options.config_folder)
        .and_then([](const config::ConfFiles& conf) { return job::Links::load(conf); })
        .and_then([&](const job::Links& links) {
          return job::merge_ranks(std::move(parts), links, kVersion);
        });
  });
  if (!compared) return fail_with(compared.error());
  analysis.profile = std::move(*compared);
  report::word(analysis.profile);
  return analysis;
}

}  // namespace llmprof::session
