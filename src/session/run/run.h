#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recording.h"
#include "config/compose.h"
#include "session/analysis/analyze.h"
#include "session/options/run_options.h"
#include "session/run/captures.h"

namespace llmprof::session {

// One rank of a job that a launcher started: `srun llmprof run --rank-folder DIR -- PROGRAM`. It is
// recorded once, into its own subfolder of `folder`.
struct RankOfJob {
  uint64_t rank = 0;
  std::optional<uint64_t> world_size;
  fs::path folder;                           // for all ranks
  std::optional<std::chrono::seconds> wait;  // for the other ranks, to write the job's reports
};

struct RunRequest {
  config::ComposedConfig config;
  RunOptions options;
  Captures captures;
  ProgramFiles program;
  std::optional<fs::path> config_folder;  // as in AnalyzeOptions
  std::vector<std::string> rank_titles;   // process titles of engines' workers, from conf/engines
  bool force = false;                     // write into a folder that is not empty
  Exports exports;
  std::optional<RankOfJob> rank;
  std::vector<std::string> left_out;        // what the time limit removed, and when, as text
  const std::atomic<bool>* stop = nullptr;  // if set, ends the run; captures are kept and read
};

// The user's command line.
struct RunArguments {
  std::vector<std::string> overrides;  // "run.mode=light", "model=llm/alt", ...
  std::vector<std::string> program;    // after `--`; empty: the configured workload
  std::optional<fs::path> out;
  std::optional<fs::path> config_folder;
  bool force = false;
  Exports exports;
  std::optional<fs::path> rank_folder;                 // this process is one rank of a job
  std::optional<std::chrono::seconds> wait_for_ranks;  // rank 0 then writes the job's reports
};

// Composes the configuration and checks it completely before anything runs.
Result<RunRequest> make_run_request(const RunArguments& arguments, const std::atomic<bool>* stop);

struct RunOutcome {
  fs::path folder;
  std::optional<fs::path> earlier;    // new location of the folder's earlier run
  std::optional<Analysis> analysis;   // of the captures
  std::optional<Error> not_analyzed;  // why not; both are empty if other ranks analyze
  std::vector<profile::CaptureFailure> failures;
};

// Control run, captures, analysis. An error means that there is no run folder; later failures are
// in the outcome, next to the results.
Result<RunOutcome> run(const RunRequest& request, Progress& progress);

}  // namespace llmprof::session
