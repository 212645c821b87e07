#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/machine.h"
#include "capture/process.h"

// What is recorded, how, and the results.
namespace llmprof::capture {

struct PlannedCommand {
  std::string name;  // "profile", "export": its log is <name>.log
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
};

// A backend's plan, for --dry-run and for progress messages.
struct CapturePlan {
  std::string backend;  // "nsys": also the name of its folder
  std::vector<PlannedCommand> commands;
  std::vector<std::filesystem::path> files;      // expected, relative to the bundle
  std::optional<std::chrono::seconds> estimate;  // none: unknown
  std::vector<std::string> notes;                // "8 passes per launch, 40 launches"
};

// The load of the CPUs that a command may use, in CPUs, mean over its time.
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
  // A server after its client, or a program of which enough was measured: a signal may then end it.
  bool asked_to_stop = false;
  // What went wrong around it: a server's client failed, its row could not be written.
  std::optional<Error> trouble;

  // By itself, as intended.
  [[nodiscard]] bool ended_well() const {
    if (!asked_to_stop) return result.succeeded();
    return result.end == ProcessEnd::exited || result.end == ProcessEnd::signalled;
  }
};

// What a backend did. A failure never removes existing files.
struct CaptureResult {
  std::vector<std::filesystem::path> files;  // made, relative to the bundle
  std::vector<CommandRecord> commands;
  std::optional<Error> failure;  // of kind tool: what is missing, why, the exact remedy
  Diagnostics notes;             // what worked differently than planned
};

// Limits of every recording.
struct CaptureLimits {
  std::optional<std::chrono::milliseconds> timeout;           // for one run of the workload
  std::optional<uint64_t> max_bytes;                          // of one capture's folder
  std::chrono::milliseconds grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
  const std::atomic<bool>* stop = nullptr;                    // as in Command
};

// Measures the load from its construction on. One command at a time: anything else that llmprof
// runs meanwhile is counted as part of it.
class LoadMeter {
 public:
  LoadMeter();
  // None if the machine does not report it, or for commands too short for its clock's ticks.
  [[nodiscard]] std::optional<CommandLoad> read() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<CpuTimes> machine_;
  double own_ = 0;
};

// A running command that leaves in `folder` its line in cmd.txt (quoted for a shell, with its own
// variables), <name>.log (stdout and stderr together, written as it runs) and, once it has ended,
// its row in status.json (name, argv, how it ended, exit code, seconds, CPU load). cmd.txt and
// status.json contain no secrets (base/secrets/secrets.h). If that log exists, the name gets a
// number, so that attempts do not overwrite each other. Both lists are complete at any time, and
// rows of earlier commands stay.
class RecordedCommand {
 public:
  static Result<RecordedCommand> start(const std::filesystem::path& folder, std::string_view name,
                                       Command command);

  bool ended() { return process_->ended(); }
  void end() { process_->end(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] const std::filesystem::path& log() const { return log_; }
  // For a command that has ended: writes its row.
  CommandRecord finish(bool asked_to_stop = false);

 private:
  RecordedCommand() = default;
  std::filesystem::path folder_;
  std::string name_;
  std::filesystem::path log_;
  std::unique_ptr<Command> command_;  // where the process can refer to it
  LoadMeter load_;
  std::unique_ptr<RunningProcess> process_;
};

// From start to finish.
Result<CommandRecord> run_recorded(const std::filesystem::path& folder, std::string_view name,
                                   Command command);

// A workload that never ends by itself: it is profiled while `client` or `load` runs, then asked to
// stop.
struct ServerWorkload {
  std::string ready_url;          // answers with a status below 500 once it serves; or
  std::string ready_ca_file;      // CA certificates of an https URL; empty: the system's
  std::string ready_log_pattern;  // a regular expression that its output matches then
  std::chrono::milliseconds ready_timeout = std::chrono::minutes(10);
  std::vector<std::string> warm_up;  // argv, run once before the client; empty: none
  std::vector<std::string> client;   // argv
  // Instead of a client: the argv of `llmprof load`, to which each recording adds the folder for
  // its record, <name>-load in its own.
  std::vector<std::string> load;
  int stop_signal = SIGINT;
};

// What is profiled, before a tool is put in front of it.
struct WorkloadCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::filesystem::path working_folder;                          // empty: ours
  bool uses_cuda = true;  // then a timeline without GPU kernels is a failure
  std::optional<ServerWorkload> server;
};

// What a backend records, and where.
struct CaptureRequest {
  WorkloadCommand workload;
  std::filesystem::path bundle;  // files go to the backend's folder in it
  CaptureLimits limits;
  std::vector<std::pair<std::string, std::string>> environment;  // for the workload alone
};

// One run of the workload, after a tool's argv if a tool watches.
struct WorkloadRecording {
  std::string name;              // "control", "profile": as in run_recorded
  std::filesystem::path folder;  // where its record goes, and whose size is limited
  std::vector<std::string> wrapper;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the workload's own
  // As in Command, with the recording's log; not called for a server, which ends after its client.
  std::function<bool(const std::filesystem::path&)> is_enough;
};

// Runs it to its end or, for a server, until its client or load has ended (recorded as
// <name>-warm_up, <name>-client and <name>-load). Limits end everything it started and are in the
// record, as is a workload that fails by itself. An error means that it could not be run, or that
// its server was never ready or ended before its client did.
Result<CommandRecord> record_workload(const WorkloadCommand& workload,
                                      const WorkloadRecording& recording,
                                      const CaptureLimits& limits);

// For a server: `command` is the server's, with its limits and with the tool in front.
Result<CommandRecord> record_server(const WorkloadCommand& workload,
                                    const WorkloadRecording& recording, const Command& command);

}  // namespace llmprof::capture
