#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/capture_result.h"
#include "capture/workload_command.h"

namespace llmprof {

// Runs a command and leaves in `folder` its line in cmd.txt (quoted for a shell, with the variables
// it was given), <name>.log (stdout and stderr together) and its row in status.json (name, argv,
// how it ended, exit code, seconds). Files are whole at any time; earlier commands' rows stay.
Result<CommandRecord> run_recorded(const std::filesystem::path& folder, std::string_view name,
                                   Command command);

// One run of the workload, with a tool's argv in front of it where a tool watches.
struct WorkloadPass {
  std::string name;              // "control", "profile": as in run_recorded
  std::filesystem::path folder;  // where its record goes, and whose size is limited
  std::vector<std::string> wrapper;
  std::vector<std::pair<std::string, std::string>> environment;  // beside the workload's own
};

// Runs it to its end, or, for a server, from its readiness to its client's end. Limits end the
// whole process group. An error means that it could not be run, or that its server never served;
// a workload that fails by itself is in the record.
Result<CommandRecord> run_pass(const WorkloadCommand& workload, const WorkloadPass& pass,
                               const CaptureLimits& limits);

}  // namespace llmprof
