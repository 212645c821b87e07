#include "capture/launcher_exports.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "capture/launcher.h"
#include "capture/process.h"

namespace llmprof::capture {
namespace {

bool is_open_mpi(const std::string& launcher) {
  Command command;
  command.argv = {launcher, "--version"};
  command.timeout = std::chrono::seconds(10);
  const auto asked = run_process(command);
  return asked && contains(asked->output_tail, "Open MPI");
}

}  // namespace

std::vector<std::string> exported_argv(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& variables) {
  const auto launcher = find_launcher(argv);
  if (!launcher || launcher->kind != LauncherKind::mpi || !launcher->names_hosts) return argv;
  const auto at = std::find_if(argv.begin(), argv.end(), [&](const std::string& word) {
    return std::filesystem::path(word).filename() == launcher->name;
  });
  if (at == argv.end() || !is_open_mpi(*at)) return argv;
  std::vector<std::string> words(argv.begin(), at + 1);
  for (const auto& [name, value] : variables) {
    words.emplace_back("-x");
    words.push_back(name);
  }
  words.insert(words.end(), at + 1, argv.end());
  return words;
}

}  // namespace llmprof::capture
