#include "capture/recording.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.h"
#include "base/secrets/secrets.h"
#include "base/text.h"
#include "capture/launcher.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

constexpr std::string_view kStatusBegin = "[\n";
constexpr std::string_view kStatusEnd = "\n]\n";
// The machine counts in ticks of 10 ms per CPU.
constexpr double kShortestSeconds = 0.2;

std::string_view end_name(ProcessEnd end) {
  constexpr std::array<std::string_view, 6> kNames = {
      "exited", "signalled", "timed_out", "over_size_limit", "interrupted", "not_started"};
  return kNames.at(static_cast<size_t>(end));
}

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

std::string status_row(const CommandRecord& record) {
  using Json = nlohmann::ordered_json;
  const ProcessResult& result = record.result;
  Json load;
  if (record.load) {
    load = {{"cpus", record.load->cpus},
            {"used", rounded(record.load->used, 100)},
            {"others", rounded(record.load->others, 100)}};
  }
  const Json row = {
      {"name", record.name},
      {"end", end_name(result.end)},
      {"exit_code", result.end == ProcessEnd::exited ? Json(result.exit_code) : Json()},
      {"signal", result.end == ProcessEnd::signalled ? Json(result.signal) : Json()},
      {"asked_to_stop", record.asked_to_stop},
      {"seconds", rounded(std::chrono::duration<double>(result.duration).count(), 1000)},
      {"load", load},
      {"said", describe_end(result)},
      {"log", record.log.filename().string()},
      {"argv", without_secrets(record.argv)}};
  return "  " + to_printable_json(row.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Appends to the list if it is as this file writes it; otherwise starts a new one.
Result<void> add_status_row(const path& file, const std::string& row) {
  std::string text = file_content(file).value_or("");
  if (text.starts_with(kStatusBegin) && text.ends_with(kStatusEnd)) {
    text.resize(text.size() - kStatusEnd.size());
    text += ",\n";
  } else {
    text = kStatusBegin;
  }
  return write_file_atomically(file, text + row + std::string(kStatusEnd));
}

Result<void> add_command_line(const path& file, std::string_view name, const Command& command) {
  std::string text = fmt::format("{}# {}", file_content(file).value_or(""), name);
  if (!command.working_folder.empty()) {
    text += ", in " + to_printable(command.working_folder.string());
  }
  text += "\n" + shell_line(command.argv, command.environment) + "\n";
  return write_file_atomically(file, text);
}

std::string unused_name(const path& folder, std::string_view name) {
  std::string candidate(name);
  for (int number = 2; path_exists(folder / (candidate + ".log")); ++number) {
    candidate = fmt::format("{}-{}", name, number);
  }
  return candidate;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// If a name has two values, the recording's applies: a program may read either of duplicates.
Variables joined(Variables variables, const Variables& recording) {
  for (const auto& [name, value] : recording) {
    std::erase_if(variables, [&](const auto& variable) { return variable.first == name; });
  }
  variables.insert(variables.end(), recording.begin(), recording.end());
  return variables;
}

// Disk usage of the files below a folder, in bytes; files that appear or vanish meanwhile are not
// an error. 0 if there is no such folder.
uint64_t folder_bytes(const path& folder) {
  constexpr uint64_t kBlockBytes = 512;  // stat(2)
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  uint64_t bytes = 0;
  std::error_code status;
  for (std::filesystem::recursive_directory_iterator entry(folder, kOptions, status), end;
       !status && entry != end; entry.increment(status)) {
    struct stat about{};
    if (::lstat(entry->path().c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      // Tools map files far larger than the data they have written.
      bytes += static_cast<uint64_t>(about.st_blocks) * kBlockBytes;
    }
  }
  return bytes;
}

}  // namespace

LoadMeter::LoadMeter()
    : begin_(std::chrono::steady_clock::now()),
      machine_(usable_cpu_times()),
      own_(own_cpu_seconds()) {}

std::optional<CommandLoad> LoadMeter::read() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  const auto machine = usable_cpu_times();
  if (!machine_ || !machine || machine->cpus != machine_->cpus) return std::nullopt;
  if (passed.count() < kShortestSeconds) return std::nullopt;
  const double used = own_cpu_seconds() - own_;
  const double others = std::max(machine->busy - machine_->busy - used, 0.0);
  return CommandLoad{static_cast<double>(machine->cpus), used / passed.count(),
                     others / passed.count()};
}

Result<RecordedCommand> RecordedCommand::start(const path& folder, std::string_view name,
                                               Command command) {
  if (auto made = make_own_folder(folder); !made) return fail_with(made.error());
  RecordedCommand recorded;
  recorded.folder_ = absolute_path(folder);
  recorded.name_ = unused_name(recorded.folder_, name);
  recorded.log_ = recorded.folder_ / (recorded.name_ + ".log");
  if (auto added = add_command_line(recorded.folder_ / "cmd.txt", recorded.name_, command);
      !added) {
    return fail(ErrorKind::tool, added.error().message);
  }
  if (command.stdout_file.empty()) command.stdout_file = recorded.log_;
  if (command.stderr_file.empty()) command.stderr_file = recorded.log_;
  recorded.command_ = std::make_unique<Command>(std::move(command));
  auto process = RunningProcess::start(*recorded.command_);
  if (!process) return fail_with(process.error());
  recorded.process_ = std::move(*process);
  return recorded;
}

CommandRecord RecordedCommand::finish(bool asked_to_stop) {
  CommandRecord record;
  record.name = name_;
  record.argv = command_->argv;
  record.log = log_;
  record.result = process_->take_result();
  record.asked_to_stop = asked_to_stop || record.result.was_enough;
  record.load = load_.read();
  record.result.output_tail = file_part(
      log_, -static_cast<std::streamoff>(command_->output_tail_bytes), command_->output_tail_bytes);
  std::error_code status;
  const auto bytes = std::filesystem::file_size(log_, status);
  record.result.output_bytes = status ? 0 : bytes;
  if (auto added = add_status_row(folder_ / "status.json", status_row(record)); !added) {
    record.trouble = Error{ErrorKind::tool, added.error().message};
  }
  return record;
}

Result<CommandRecord> run_recorded(const path& folder, std::string_view name, Command command) {
  auto running = RecordedCommand::start(folder, name, std::move(command));
  if (!running) return fail_with(running.error());
  while (!running->ended()) {
  }
  return running->finish();
}

Result<CommandRecord> record_workload(const WorkloadCommand& workload,
                                      const WorkloadRecording& recording,
                                      const CaptureLimits& limits) {
  if (workload.argv.empty()) return fail(ErrorKind::usage, "the workload has no command");
  Command command;
  command.argv = recording.wrapper;
  command.environment = joined(workload.environment, recording.environment);
  const std::vector<std::string> argv = exported_argv(workload.argv, command.environment);
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.working_folder = workload.working_folder;
  command.timeout = limits.timeout;
  command.grace = limits.grace;
  command.stop = limits.stop;
  command.whole_tree = true;
  if (limits.max_bytes) {
    command.is_over_limit = [folder = recording.folder, most = *limits.max_bytes] {
      return folder_bytes(folder) > most;
    };
  }
  if (!workload.server) command.is_enough = recording.is_enough;
  if (workload.server) return record_server(workload, recording, command);
  return run_recorded(recording.folder, recording.name, std::move(command));
}

}  // namespace llmprof::capture
