#include "session/diff/read_side.h"

#include <fmt/format.h>

#include <fstream>

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

Result<compare::Run> analyzed(const fs::path& path, const fs::path& input,
                              const std::optional<fs::path>& config_folder,
                              std::string_view version, Progress& progress) {
  AnalyzeOptions options;
  options.inputs = {input};
  options.config_folder = config_folder;
  OutputFolder out(std::nullopt, false);
  auto analysis = analyze_to_profile(options, version, progress, out);
  if (!analysis) return fail_with(analysis.error());
  if (analysis->incomplete) return fail_with(*analysis->incomplete);
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "capture",
                      std::move(analysis->profile)};
}

Result<compare::Run> read_run(const fs::path& path, const std::optional<fs::path>& config_folder,
                              std::string_view version, Progress& progress) {
  std::error_code ignored;
  fs::path input = path;
  if (!fs::exists(input, ignored)) {
    if (const auto known = list_artifacts(path)) input = known->folder;
  }
  fs::path file = input;
  if (fs::is_directory(input, ignored)) file = input / "profile.json";
  if (!fs::is_regular_file(file, ignored) || !is_profile(file)) {
    return analyzed(path, input, config_folder, version, progress);
  }
  progress.begin("reading " + file.string());
  auto profile = profile::read_profile(file);
  if (!profile) return fail_with(profile.error());
  // What an earlier version left out of profile.json is in the captures beside it.
  const bool earlier = profile->kernel_sequences.empty() && !profile->stages.empty();
  if (earlier && is_run_folder(input)) {
    if (auto again = analyzed(path, input, config_folder, version, progress)) return again;
  }
  return compare::Run{path.string(), is_run_folder(input) ? "run" : "profile", std::move(*profile)};
}

}  // namespace

Result<std::vector<compare::Run>> read_side(std::span<const fs::path> paths,
                                            const std::optional<fs::path>& config_folder,
                                            std::string_view version, Progress& progress) {
  std::vector<compare::Run> runs;
  for (const fs::path& path : paths) {
    auto run = read_run(path, config_folder, version, progress);
    if (!run) return fail_with(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace llmprof::session
