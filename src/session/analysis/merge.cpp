#include "session/analysis/analyze_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/needed.h"
#include "job/partial/partial.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

// Partial profiles in a folder and its subfolders.
std::set<fs::path> partials_in(const fs::path& folder) {
  constexpr int kDeepest = 3;
  std::set<fs::path> files;
  std::error_code trouble;
  fs::recursive_directory_iterator entries(folder, trouble);
  while (!trouble && entries != fs::end(entries)) {
    if (entries.depth() >= kDeepest || is_earlier_run(entries->path()))
      entries.disable_recursion_pending();
    const bool wanted = entries->path().extension() == job::kPartialExtension;
    if (wanted && is_file(entries->path())) files.insert(entries->path());
    entries.increment(trouble);
  }
  if (trouble) {
    give_up(ErrorKind::input,
            fmt::format("{}: cannot list the folder: {}", folder.string(), trouble.message()));
  }
  return files;
}

std::vector<fs::path> all_partials(const std::vector<fs::path>& inputs) {
  std::vector<fs::path> files;
  std::set<fs::path> seen;
  for (const fs::path& input : inputs) {
    std::error_code trouble;
    const bool folder = fs::is_directory(input, trouble);
    for (const fs::path& file : folder ? partials_in(input) : std::set<fs::path>{input}) {
      if (seen.insert(fs::weakly_canonical(file, trouble)).second) files.push_back(file);
    }
  }
  return files;
}

// Concurrently: parsing a partial profile takes CPU time.
std::vector<job::RankPart> read_partials(const std::vector<fs::path>& files) {
  std::vector<Result<job::RankPart>> read(files.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) read[i] = job::read_partial(files[i]);
  };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < std::min(cores, files.size()); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  std::vector<job::RankPart> parts;
  parts.reserve(read.size());
  for (auto& part : read) parts.push_back(needed(std::move(part)));
  return parts;
}

}  // namespace

Result<Analysis> merge(const AnalyzeOptions& options, Progress& progress) {
  return attempt([&] {
    const auto files = all_partials(options.inputs);
    if (files.empty()) return needed(analyze(options, progress));
    OutputFolder out(options.out, options.force);
    out.claim();
    Analysis so_far;
    auto parts = timed("reading partial profiles", progress, so_far.timings,
                       [&] { return read_partials(files); });
    auto merged = job_profile(std::move(parts), options, progress, std::move(so_far));
    return write_outputs(options, {}, progress, out, std::move(merged));
  });
}

}  // namespace llmprof::session
