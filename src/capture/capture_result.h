#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "capture/process.h"

namespace llmprof::capture {

struct PlannedCommand {
  std::string name;  // "profile", "export": its log is <name>.log
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
};

// What a backend is going to do, for --dry-run and for progress messages.
struct CapturePlan {
  std::string backend;  // "nsys": also the name of its folder
  std::vector<PlannedCommand> commands;
  std::vector<std::filesystem::path> files;      // expected, relative to the bundle
  std::optional<std::chrono::seconds> estimate;  // none: unknown
  std::vector<std::string> notes;                // "8 passes per launch, 40 launches"
};

// How busy the CPUs were that a command may use, in CPUs, mean over its time.
struct CommandLoad {
  double cpus = 0;
  double used = 0;    // by what llmprof started
  double others = 0;  // by all other programs
};

struct CommandRecord {
  std::string name;
  std::vector<std::string> argv;
  ProcessResult result;
  std::filesystem::path log;
  std::optional<CommandLoad> load;
  // A server after its client, a program of which enough was measured: then it may end as it likes.
  bool asked_to_stop = false;
  // What went wrong around it: a server's client failed, its row could not be written.
  std::optional<Error> trouble;

  // By itself, as it was meant to.
  [[nodiscard]] bool ended_well() const {
    if (!asked_to_stop) return result.succeeded();
    return result.end == ProcessEnd::exited || result.end == ProcessEnd::signalled;
  }
};

// What a backend did. A failure never takes away the files that there are.
struct CaptureResult {
  std::vector<std::filesystem::path> files;  // made, relative to the bundle
  std::vector<CommandRecord> commands;
  std::optional<Error> failure;  // of kind tool: what is missing, why, the exact remedy
  Diagnostics notes;             // what worked in another way than planned
};

// Limits of every recording.
struct CaptureLimits {
  std::optional<std::chrono::milliseconds> timeout;           // for one run of the workload
  std::optional<uint64_t> max_bytes;                          // of one capture's folder
  std::chrono::milliseconds grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
  const std::atomic<bool>* stop = nullptr;                    // as in Command
};

}  // namespace llmprof::capture
