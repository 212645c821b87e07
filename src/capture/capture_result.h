#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "capture/process.h"

namespace llmprof {

struct PlannedCommand {
  std::string name;  // "profile", "export": its log is <name>.log
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
};

// What a backend is going to do, for --dry-run and for people who wait.
struct CapturePlan {
  std::string backend;  // "nsys": also the name of its folder
  std::vector<PlannedCommand> commands;
  std::vector<std::filesystem::path> files;      // expected, relative to the bundle
  std::optional<std::chrono::seconds> estimate;  // none: unknown
  std::vector<std::string> notes;                // "8 passes a launch, 40 launches"
};

struct CommandRecord {
  std::string name;
  std::vector<std::string> argv;
  ProcessResult result;
};

// What a backend did. A failure never takes away the files that there are.
struct CaptureResult {
  std::vector<std::filesystem::path> files;  // made, relative to the bundle
  std::vector<CommandRecord> commands;
  std::optional<Error> failure;  // of kind tool: what is missing, why, the exact remedy
  Diagnostics notes;             // what worked in another way than planned
};

// What every capture is held to.
struct CaptureLimits {
  std::optional<std::chrono::milliseconds> timeout;           // for one run of the workload
  std::optional<uint64_t> max_bytes;                          // of one capture's folder
  std::chrono::milliseconds grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
  const std::atomic<bool>* stop = nullptr;                    // as in Command
};

}  // namespace llmprof
