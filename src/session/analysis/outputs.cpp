#include "session/analysis/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/files.h"
#include "base/needed.h"
#include "report/documents/documents.h"
#include "session/version.h"

namespace llmprof::session {

static constexpr uint64_t kMostKernelsOfRanks = 1'000'000;

void KeptTraces::keep(std::optional<uint64_t> rank, trace::Trace&& trace,
                      analysis::Results&& results) {
  kernels_ += trace.kernels.size();
  if (rank && kernels_ > kMostKernelsOfRanks) {
    kept_ = {};
  } else {
    kept_.push_back({rank, std::move(trace), std::move(results)});
  }
}

Result<std::vector<query::Events>> KeptTraces::take() && {
  if (!kept_.empty() || kernels_ <= kMostKernelsOfRanks) return std::move(kept_);
  return fail_input(fmt::format(
      "the job's ranks have {} kernels together; single events of more than {} are not kept. Name "
      "the captures of one rank",
      kernels_, kMostKernelsOfRanks));
}

Result<exports::ExportSources> KeptTraces::sources(const profile::Profile& profile) const {
  const bool of_ranks = kept_.size() != 1 || kept_.front().rank;
  if (of_ranks && kernels_ > kMostKernelsOfRanks) {
    return fail_input(fmt::format(
        "The job's ranks have {} kernels together, but a timeline can hold only {}; run `llmprof "
        "analyze` on the capture of one rank to see its timeline.",
        kernels_, kMostKernelsOfRanks));
  }
  return export_sources(profile, kept_);
}

Result<exports::ExportSources> export_sources(const profile::Profile& profile,
                                              const std::vector<query::Events>& events) {
  exports::ExportSources sources;
  if (events.size() == 1 && !events.front().rank) {
    exports::ExportSource& source =
        sources.emplace_back(events.front().trace, events.front().results);
    source.profile = &profile;
    return sources;
  }
  for (const query::Events& each : events) {
    const auto rank = std::ranges::find(profile.ranks, each.rank, &profile::Rank::rank);
    if (rank == profile.ranks.end() || !rank->clock) continue;
    sources.push_back({each.trace, each.results, fmt::format("rank {}", rank->rank),
                       job::JobClock(*rank->clock)});
  }
  if (sources.empty()) {
    return fail_input(
        "Partial profiles contain no single events; `llmprof analyze` of the ranks' captures draws "
        "their timeline.");
  }
  return sources;
}

void KeptTraces::add_timeline(page::Content& content) const {
  auto timeline = sources(content.profile).and_then(exports::make_timeline);
  if (!timeline) {
    content.timeline_missing = timeline.error().message;
    return;
  }
  content.timeline.push_back({"timeline", std::move(timeline->header)});
  for (auto& column : timeline->columns) {
    content.timeline.push_back({"t." + column.name, std::move(column.bytes)});
  }
}

void KeptTraces::write_exports(const Exports& wanted, const profile::Profile& profile,
                               Analysis& analysis) const {
  const auto write = [&](const Result<exports::ExportedText>& content, const ExportRow& row,
                         std::string rank = {}) {
    std::erase(rank, ' ');
    const std::string name = fmt::format("trace{}{}{}", rank.empty() ? "" : ".", rank, row.ending);
    const auto done = content.and_then([&](const exports::ExportedText& made) {
      return write_file_atomically(analysis.folder / name, made.text);
    });
    if (done) {
      analysis.files.push_back(name);
    } else if (!analysis.not_exported) {
      analysis.not_exported = done.error().within(name);
    }
  };
  const auto all = sources(profile);
  if (!all) {
    analysis.not_exported = all.error();
    return;
  }
  for (size_t i = 0; i < kExports.size(); ++i) {
    const ExportRow& row = kExports[i];
    if (!wanted[i]) continue;
    const auto make = std::get<ExportRow::FromTraces>(row.write);
    if (!row.file_per_rank) {
      write(make(*all, kVersion), row);
      continue;
    }
    for (const exports::ExportSource& each : *all) {
      write(make({each}, kVersion), row, each.rank);
    }
  }
}

Analysis write_outputs(const AnalyzeOptions& options, const KeptTraces& traces, Progress& progress,
                       OutputFolder& out, Analysis analysis) {
  analysis.folder = out.open().root();
  page::Content content{analysis.profile, {}, {}, std::nullopt};
  // The timeline is made while the reports are written.
  const auto bundle = page::embedded_bundle();
  auto timeline = std::async(std::launch::async, [&] {
    if (bundle) traces.add_timeline(content);
  });
  auto written = needed(timed("writing the bundle", progress, analysis.timings, [&] {
    return report::write_reports(analysis.profile, analysis.folder,
                                 options.top.value_or(report::kAllKernels));
  }));
  analysis.files = std::move(written.files);
  analysis.json = std::move(written.json);
  analysis.page = timed("writing the page", progress, analysis.timings, [&] {
    timeline.get();
    content.json = analysis.json;
    return write_page_file(bundle, analysis.folder,
                           [&](const page::Bundle& own) { return page::make_page(own, content); });
  });
  if (!options.exports.any()) return analysis;
  progress.begin("writing files for other viewers");
  const Stopwatch watch;
  traces.write_exports(options.exports, analysis.profile, analysis);
  analysis.timings.push_back({"writing files for other viewers", watch.elapsed()});
  return analysis;
}

}  // namespace llmprof::session
