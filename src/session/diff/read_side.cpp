#include "session/diff/read_side.h"

#include <fmt/format.h>

#include <fstream>

#include "analysis/shown/shown.h"
#include "base/text.h"
#include "profile/json/reader.h"
#include "session/analysis/analyze.h"
#include "session/bundle/inputs.h"
#include "session/bundle/list_artifacts.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

// By its first field: a PyTorch trace is JSON too.
bool is_profile(const fs::path& file) {
  constexpr size_t kHead = 256;
  std::string head(kHead, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.starts_with('{') && contains(head, "\"schema_version\"");
}

// Reading the captures apart from all that follows.
void add_timings(const Analysis& analysis, std::chrono::nanoseconds all, const fs::path& path,
                 std::vector<PartTiming>& timings) {
  for (const PartTiming& part : analysis.timings) {
    if (!part.name.starts_with("reading ")) continue;
    timings.push_back(part);
    all -= part.time;
  }
  timings.push_back({"analyzing " + path.string(), all});
}

Result<compare::Run> analyzed(const fs::path& path, const fs::path& input,
                              const std::optional<fs::path>& config_folder, Progress& progress,
                              std::vector<PartTiming>& timings) {
  const Stopwatch analyzing;
  AnalyzeOptions options;
  options.inputs = {input};
  options.config_folder = config_folder;
  OutputFolder out(std::nullopt, false);
  auto analysis = analyze_to_profile(options, progress, out);
  if (!analysis) return fail_with(analysis.error());
  add_timings(*analysis, analyzing.elapsed(), path, timings);
  if (analysis->incomplete) return fail_with(*analysis->incomplete);
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "capture",
                      std::move(analysis->profile)};
}

Result<compare::Run> read_run(const fs::path& path, const std::optional<fs::path>& config_folder,
                              Progress& progress, std::vector<PartTiming>& timings) {
  std::error_code ignored;
  fs::path input = path;
  if (!fs::exists(input, ignored)) {
    if (const auto known = list_artifacts(path)) input = known->folder;
  }
  fs::path file = input;
  if (fs::is_directory(input, ignored)) file = input / "profile.json";
  if (!fs::is_regular_file(file, ignored) || !is_profile(file)) {
    return analyzed(path, input, config_folder, progress, timings);
  }
  progress.begin("reading " + file.string());
  const Stopwatch reading;
  auto profile = profile::read_profile(file);
  if (!profile) return fail_with(profile.error());
  if (!profile->token_times.shown) analysis::add_shown(*profile);  // a file of an earlier llmprof
  timings.push_back({"reading " + file.string(), reading.elapsed()});
  // Data that an earlier version did not write to profile.json is read from the captures.
  const bool earlier = profile->kernel_sequences.empty() && !profile->stages.empty();
  if (earlier && is_run_folder(input)) {
    if (auto again = analyzed(path, input, config_folder, progress, timings)) return again;
  }
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "profile", std::move(*profile)};
}

}  // namespace

Result<std::vector<compare::Run>> read_side(std::span<const fs::path> paths,
                                            const std::optional<fs::path>& config_folder,
                                            Progress& progress, std::vector<PartTiming>& timings) {
  std::vector<compare::Run> runs;
  for (const fs::path& path : paths) {
    auto run = read_run(path, config_folder, progress, timings);
    if (!run) return fail_with(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace llmprof::session
