#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/engine/engine_rules.h"
#include "capture/recording.h"
#include "config/compose.h"
#include "session/analysis/analyze.h"
#include "session/options/run_options.h"

namespace llmprof::session {

inline constexpr std::string_view kCollectorFile = "libllmprof_collector.so";

// Files that ship with llmprof.
struct ProgramFiles {
  fs::path bin;                       // the running program's folder, which also contains cpu_llm
  fs::path home;                      // of workloads/ and python/; empty if there is none
  std::optional<fs::path> collector;  // kCollectorFile
};

// Next to the program in an installed bundle, above it in a build tree.
ProgramFiles find_program_files(const fs::path& program);
ProgramFiles find_program_files();  // for the running program

// Whether the collector can record this workload's GPU timeline on this machine.
struct CollectorReach {
  bool records_cuda = false;
  std::string why_not;            // a clause with the remedy; empty if it can
  std::optional<fs::path> cupti;  // found here; the program's own has precedence
  bool other_injection = false;   // the environment loads another library into CUDA
};
// Checks the library, the driver and CUPTI; a workload without CUDA needs none of these.
CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program);

// What a run captures. Options decide; by default, the collector records the timeline if it can,
// otherwise nsys does, and ncu is on in deep mode or together with nsys.
struct Captures {
  bool collector = false;
  bool collector_cuda = false;  // the collector's log is the GPU timeline
  bool nsys = false;
  bool nsys_in_need = false;  // nsys as a fallback if the collector records no GPU work
  bool ncu = false;
  bool torch_profiler = false;
  std::optional<fs::path> cupti;
  std::vector<std::string> notes;  // reasons, for the plan

  // Turns off everything except the collector; false if that is off.
  bool keep_collector_alone() {
    nsys = nsys_in_need = ncu = torch_profiler = false;
    notes.clear();
    return collector;
  }
};
Captures choose_captures(const RunOptions& options, const CollectorReach& reach);

// One rank of a job that a launcher started: `srun llmprof run --rank-folder DIR -- PROGRAM`. It is
// recorded once, into its own subfolder of `folder`.
struct RankOfJob {
  uint64_t rank = 0;
  std::optional<uint64_t> world_size;
  fs::path folder;                           // for all ranks
  std::optional<std::chrono::seconds> wait;  // for the other ranks, to write the job's reports
};

// The user's command line.
struct RunArguments {
  std::vector<std::string> overrides;  // "run.mode=light", "model=llm/alt", ...
  std::vector<std::string> program;    // after `--`; empty: the configured workload
  std::optional<fs::path> out;
  std::optional<fs::path> config_folder;  // as in AnalyzeOptions
  bool force = false;                     // write into a folder that is not empty
  Exports exports;
  std::optional<fs::path> rank_folder;                 // this process is one rank of a job
  std::optional<std::chrono::seconds> wait_for_ranks;  // rank 0 then writes the job's reports
};

struct RunRequest {
  RunArguments arguments;
  config::ComposedConfig config;
  RunOptions options;
  Captures captures;
  ProgramFiles program;
  analysis::EngineRules engines;
  std::optional<RankOfJob> rank;
  std::vector<std::string> left_out;        // what the time limit removed, and when, as text
  const std::atomic<bool>* stop = nullptr;  // if set, ends the run; captures are kept and read
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
