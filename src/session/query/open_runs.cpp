#include "session/query/open_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/shown/shown.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "profile/json/json.h"
#include "session/analysis/analyze.h"
#include "session/bundle/bundle_files.h"
#include "session/bundle/inputs.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kProfileName = "profile.json";

// The profile.json that a path stands for; none if it stands for captures.
std::optional<fs::path> profile_behind(const fs::path& path) {
  if (is_file(path) && is_profile(path)) return path;
  fs::path folder = path;
  if (!path_exists(path)) {
    const auto run = list_artifacts(path);
    if (!run) {
      give_up(ErrorKind::input,
              fmt::format("{}: No such file or directory; name the folder of a run or a capture",
                          path.string()));
    }
    folder = run->folder;
  }
  fs::path inside = folder / kProfileName;
  if (is_folder(folder) && is_file(inside) && is_profile(inside)) return inside;
  return std::nullopt;
}

query::Run open_bundle(const fs::path& file, const MakeProgress& make_progress) {
  query::Run run;
  const auto progress = make_progress();
  progress->begin("reading " + file.string());
  run.profile = needed(profile::read_profile(file));
  analysis::complete_shown(run.profile);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  // The profile stays where it is; this one is for the comparison with what is read.
  run.read_events = [folder, file, make_progress] {
    return attempt([&] {
      const profile::Profile profile = needed(profile::read_profile(file));
      const auto own_progress = make_progress();
      return needed(read_again(folder, profile, *own_progress).take());
    });
  };
  return run;
}

query::Run open_captures(const fs::path& path, const std::optional<fs::path>& config_folder,
                         const MakeProgress& make_progress) {
  AnalyzeOptions options;
  options.inputs = {path};
  options.config_folder = config_folder;
  OutputFolder out(std::nullopt, false);
  const auto progress = make_progress();
  auto traces = std::make_shared<KeptTraces>();
  Analysis analysis = needed(analyze_to_profile(options, *progress, out, traces.get()));
  if (analysis.incomplete) throw Failure(*analysis.incomplete);
  query::Run run;
  run.profile = std::move(analysis.profile);
  run.read_events = [traces] { return std::move(*traces).take(); };
  return run;
}

// "before" of "runs/before/", unique among the others.
std::string name_of(const fs::path& path, const std::vector<query::Run>& others) {
  fs::path whole = absolute_path(path).lexically_normal();
  if (whole.filename() == kProfileName || !whole.has_filename()) whole = whole.parent_path();
  const std::string name = to_printable(whole.filename().string());
  const auto is_taken = [&](const std::string& wanted) {
    return std::ranges::find(others, wanted, &query::Run::name) != others.end();
  };
  std::string unique = name;
  for (size_t number = 2; is_taken(unique); ++number) unique = fmt::format("{}#{}", name, number);
  return unique;
}

}  // namespace

Result<std::vector<query::Run>> open_runs(std::span<const fs::path> paths,
                                          const std::optional<fs::path>& config_folder,
                                          const MakeProgress& make_progress) {
  return attempt([&] {
    std::vector<query::Run> runs;
    const auto open = [&](const fs::path& path) {
      const auto file = profile_behind(path);
      query::Run run = file ? open_bundle(*file, make_progress)
                            : open_captures(path, config_folder, make_progress);
      run.name = name_of(path, runs);
      runs.push_back(std::move(run));
    };
    for (const fs::path& path : paths) {
      const std::vector<fs::path> repeats = repeats_in(path);
      if (repeats.empty()) open(path);
      std::ranges::for_each(repeats, open);
    }
    return runs;
  });
}

}  // namespace llmprof::session
