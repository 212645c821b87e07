#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "session/run/run.h"

namespace llmprof::session {

// What the user typed.
struct RunArguments {
  std::vector<std::string> overrides;  // "run.mode=light", "model=llm/alt", ...
  std::vector<std::string> program;    // behind `--`; empty: the configured workload
  std::optional<std::filesystem::path> out;
  std::optional<std::filesystem::path> config_folder;
  bool force = false;
  Exports exports;
  std::optional<std::filesystem::path> rank_folder;    // this process is one rank of a job
  std::optional<std::chrono::seconds> wait_for_ranks;  // rank 0 then writes the job's reports
};

// Composes the configuration and checks all of it, before anything runs.
Result<RunRequest> make_run_request(const RunArguments& arguments, std::string_view version,
                                    const std::atomic<bool>* stop);

// The plan for people: every command line ready to paste, the files expected, the time.
std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans);

}  // namespace llmprof::session
