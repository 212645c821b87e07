#include "capture/workload.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "capture/launcher.h"
#include "capture/server_recording.h"

namespace llmprof::capture {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Of two values for one name the recording's holds: a program may read either of a repeated one.
Variables joined(Variables variables, const Variables& recording) {
  for (const auto& [name, value] : recording) {
    std::erase_if(variables, [&](const auto& variable) { return variable.first == name; });
  }
  variables.insert(variables.end(), recording.begin(), recording.end());
  return variables;
}

// Bytes that the files below a folder take on the disk; files that come and go meanwhile are no
// error. 0 where there is no such folder.
uint64_t folder_bytes(const std::filesystem::path& folder) {
  constexpr uint64_t kBlockBytes = 512;  // stat(2)
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  uint64_t bytes = 0;
  std::error_code status;
  for (std::filesystem::recursive_directory_iterator entry(folder, kOptions, status), end;
       !status && entry != end; entry.increment(status)) {
    struct stat about{};
    if (::lstat(entry->path().c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      // Tools map files far larger than what they have written.
      bytes += static_cast<uint64_t>(about.st_blocks) * kBlockBytes;
    }
  }
  return bytes;
}

}  // namespace

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
