#include "session/analysis/analyze_job.h"

#include <utility>

#include "config/conf_files.h"
#include "job/links/links.h"
#include "job/profile/merge_ranks.h"
#include "report/documents/word.h"
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

Result<Analysis> write_job(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                           std::string_view version, Progress& progress, OutputFolder& out,
                           Analysis analysis) {
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
  if (auto done = write_page_of_job(analysis); !done) return fail_with(done.error());
  analysis.timings.push_back({"writing the page", page.elapsed()});
  if (options.exports.any()) {
    analysis.not_exported =
        Error{ErrorKind::input,
              "files for other viewers are made of one rank's capture: `llmprof analyze CAPTURE "
              "--perfetto` with the capture of that rank alone"};
  }
  return analysis;
}

}  // namespace llmprof::session
