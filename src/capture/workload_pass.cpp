#include "capture/workload_pass.h"

#include <algorithm>

#include "capture/folder_size.h"
#include "capture/launcher_exports.h"
#include "capture/server_pass.h"

namespace llmprof::capture {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Of two values for one name the pass's holds: a program may read either of a repeated one.
Variables joined(Variables variables, const Variables& pass) {
  for (const auto& [name, value] : pass) {
    std::erase_if(variables, [&](const auto& variable) { return variable.first == name; });
  }
  variables.insert(variables.end(), pass.begin(), pass.end());
  return variables;
}

}  // namespace

Result<CommandRecord> run_pass(const WorkloadCommand& workload, const WorkloadPass& pass,
                               const CaptureLimits& limits) {
  if (workload.argv.empty()) return fail(ErrorKind::usage, "the workload has no command");
  Command command;
  command.argv = pass.wrapper;
  command.environment = joined(workload.environment, pass.environment);
  const std::vector<std::string> argv = exported_argv(workload.argv, command.environment);
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.working_folder = workload.working_folder;
  command.timeout = limits.timeout;
  command.grace = limits.grace;
  command.stop = limits.stop;
  command.whole_tree = true;
  if (limits.max_bytes) {
    command.is_over_limit = [folder = pass.folder, most = *limits.max_bytes] {
      return folder_bytes(folder) > most;
    };
  }
  if (!workload.server) command.is_enough = pass.is_enough;
  if (workload.server) return run_server_pass(workload, pass, command);
  return run_recorded(pass.folder, pass.name, std::move(command));
}

}  // namespace llmprof::capture
