#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/capture_result.h"
#include "capture/recorded_command.h"

namespace llmprof::capture {

// A workload that never ends by itself: it is profiled while `client` runs, then asked to stop.
struct ServerWorkload {
  std::string ready_url;          // answers with a status below 500 once it serves; or
  std::string ready_log_pattern;  // a regular expression that its output matches then
  std::chrono::milliseconds ready_timeout = std::chrono::minutes(10);
  std::vector<std::string> warm_up;  // argv, run once before the client; empty: none
  std::vector<std::string> client;   // argv
  int stop_signal = SIGINT;
};

// What is profiled, before a tool is put in front of it.
struct WorkloadCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
  std::filesystem::path working_folder;                          // empty: ours
  bool uses_cuda = true;  // then a timeline without GPU kernels is a failure
  std::optional<ServerWorkload> server;
};

// One run of the workload, with a tool's argv in front of it where a tool watches.
struct WorkloadRecording {
  std::string name;              // "control", "profile": as in run_recorded
  std::filesystem::path folder;  // where its record goes, and whose size is limited
  std::vector<std::string> wrapper;
  std::vector<std::pair<std::string, std::string>> environment;  // beside the workload's own
  // As in Command, with the recording's log; not asked of a server, which ends after its client.
  std::function<bool(const std::filesystem::path&)> is_enough;
};

// Runs it to its end, or, for a server, until its client has ended (recorded as <name>-warm_up and
// <name>-client). Limits end whatever it started, and are in the record, as is a workload that
// fails by itself. An error means that it could not be run, or that its server never served or
// ended before its client did.
Result<CommandRecord> record_workload(const WorkloadCommand& workload,
                                      const WorkloadRecording& recording,
                                      const CaptureLimits& limits);

}  // namespace llmprof::capture
