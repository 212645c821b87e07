#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/capture_result.h"
#include "capture/recorded_command.h"
#include "capture/workload_command.h"

namespace llmprof::capture {

// One run of the workload, with a tool's argv in front of it where a tool watches.
struct WorkloadPass {
  std::string name;              // "control", "profile": as in run_recorded
  std::filesystem::path folder;  // where its record goes, and whose size is limited
  std::vector<std::string> wrapper;
  std::vector<std::pair<std::string, std::string>> environment;  // beside the workload's own
  // As in Command, with the pass's log; not asked of a server, which ends after its client.
  std::function<bool(const std::filesystem::path&)> is_enough;
};

// Runs it to its end, or, for a server, until its client has ended (recorded as <name>-warm_up and
// <name>-client). Limits end whatever it started, and are in the record, as is a workload that
// fails by itself. An error means that it could not be run, or that its server never served or
// ended before its client did.
Result<CommandRecord> run_pass(const WorkloadCommand& workload, const WorkloadPass& pass,
                               const CaptureLimits& limits);

}  // namespace llmprof::capture
