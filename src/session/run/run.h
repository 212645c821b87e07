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
// recorded once, into a folder of its own in `folder`.
struct RankOfJob {
  uint64_t rank = 0;
  std::optional<uint64_t> world_size;
  fs::path folder;                           // of all ranks
  std::optional<std::chrono::seconds> wait;  // for the others, whose reports this rank writes
};

struct RunRequest {
  config::ComposedConfig config;
  RunOptions options;
  Captures captures;
  ProgramFiles program;
  std::optional<fs::path> config_folder;  // as in AnalyzeOptions
  std::vector<std::string> rank_titles;   // of engines' workers, as conf/engines says
  bool force = false;                     // write into a folder that is not empty
  Exports exports;
  std::optional<RankOfJob> rank;
  std::vector<std::string> left_out;        // by the time limit, and when, for people
  const std::atomic<bool>* stop = nullptr;  // set, it ends what runs; what exists is kept and read
};

// What the user typed.
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

// Composes the configuration and checks all of it, before anything runs.
Result<RunRequest> make_run_request(const RunArguments& arguments, const std::atomic<bool>* stop);

struct RunOutcome {
  fs::path folder;
  std::optional<fs::path> earlier;    // where the run is that was in the folder before
  std::optional<Analysis> analysis;   // of what was captured
  std::optional<Error> not_analyzed;  // why there is none; neither where others will analyze
  std::vector<profile::CaptureFailure> failures;
};

// Control run, captures, analysis. An error means that there is no run folder; what fails later
// is in the outcome, with what worked.
Result<RunOutcome> run(const RunRequest& request, Progress& progress);

}  // namespace llmprof::session
