#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/machine.h"
#include "capture/capture_result.h"
#include "capture/process.h"

namespace llmprof::capture {

// Measures the load from its construction on. One command at a time: what else llmprof runs
// meanwhile is taken for a part of it.
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

// A running command that leaves in `folder` its line in cmd.txt (quoted for a shell, with the
// variables it was given), <name>.log (stdout and stderr together, written as it goes) and, once it
// has ended, its row in status.json (name, argv, how it ended, exit code, seconds, how busy the
// CPUs were); secrets are in neither (base/secrets/secrets.h). Where that log
// exists the name gets a number, so that no attempt takes another's. Both lists are whole at any
// time, and rows of earlier commands stay.
class RecordedCommand {
 public:
  static Result<RecordedCommand> start(const std::filesystem::path& folder, std::string_view name,
                                       Command command);

  bool ended() { return process_->ended(); }
  void end() { process_->end(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] const std::filesystem::path& log() const { return log_; }
  // Of one that has ended: writes its row.
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

}  // namespace llmprof::capture
