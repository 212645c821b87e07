#include "session/analysis/analyze_job.h"

#include <utility>

#include "config/conf_files.h"
#include "job/links/links.h"
#include "job/profile/merge_ranks.h"
#include "report/documents/word.h"
#include "session/analysis/exports.h"
#include "session/analysis/write_bundle.h"

namespace llmprof::session {

Result<profile::Profile> job_profile(std::vector<job::RankPart> parts,
                                     const AnalyzeOptions& options, std::string_view version,
                                     Progress& progress) {
  progress.begin("comparing the ranks");
  const auto conf = config::ConfFiles::open(options.config_folder);
  if (!conf) return fail_with(conf.error());
  const auto links = job::Links::load(*conf);
  if (!links) return fail_with(links.error());
  auto profile = job::merge_ranks(std::move(parts), *links, version);
  if (profile) report::word(*profile);
  return profile;
}

Result<Analysis> write_job(std::vector<job::RankPart> parts, const RankTraces& traces,
                           const AnalyzeOptions& options, std::string_view version,
                           Progress& progress, OutputFolder& out, Analysis analysis) {
  const Stopwatch comparing;
  auto profile = job_profile(std::move(parts), options, version, progress);
  if (!profile) return fail_with(profile.error());
  analysis.profile = std::move(*profile);
  analysis.timings.push_back({"comparing the ranks", comparing.elapsed()});
  progress.begin("writing the bundle");
  const Stopwatch writing;
  if (auto done = write_bundle(options, out, analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the bundle", writing.elapsed()});
  progress.begin("writing the page");
  const Stopwatch page;
  const auto sources = traces.sources(analysis.profile);
  if (auto done = write_page_of_job(sources, analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the page", page.elapsed()});
  if (!options.exports.any()) return analysis;
  progress.begin("writing files for other viewers");
  const Stopwatch exporting;
  WrittenExports written = write_exports(options.exports, sources, version, analysis.folder);
  analysis.files.insert(analysis.files.end(), written.files.begin(), written.files.end());
  analysis.not_exported = std::move(written.failed);
  analysis.timings.push_back({"writing files for other viewers", exporting.elapsed()});
  return analysis;
}

}  // namespace llmprof::session
