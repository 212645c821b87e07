#include "session/run/start_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "capture/executables.h"
#include "capture/launcher.h"

namespace llmprof::session {
namespace {

// By variables, which other MPIs than Open MPI ignore; its options they would refuse.
void allow_here(std::vector<std::pair<std::string, std::string>>& environment) {
  const auto set = [&](std::string_view name, std::string_view value) {
    const bool chosen = std::any_of(environment.begin(), environment.end(),
                                    [&](const auto& variable) { return variable.first == name; });
    if (!chosen && std::getenv(std::string(name).c_str()) == nullptr) {
      environment.emplace_back(name, value);
    }
  };
  set("OMPI_MCA_rmaps_base_oversubscribe", "1");                   // Open MPI 4
  set("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");  // Open MPI 5
  if (geteuid() != 0) return;
  for (const std::string_view name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                      "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    set(name, "1");
  }
}

}  // namespace

Result<void> start_under_mpirun(RunOptions& options) {
  std::vector<std::string>& argv = options.workload.argv;
  if (!options.ranks || capture::find_launcher(argv)) return {};
  const char* path_list = std::getenv("PATH");
  if (!capture::find_executable("mpirun", path_list == nullptr ? "" : path_list)) {
    return fail(
        ErrorKind::tool,
        fmt::format("workload {} runs as {} ranks under mpirun, which is not on PATH: install "
                    "Debian's package openmpi-bin (apt-get install openmpi-bin), or choose "
                    "workload=cpu_llm, which needs no MPI",
                    options.facts.name, *options.ranks));
  }
  std::error_code ignored;
  const std::filesystem::path program(argv.front());
  if (program.has_parent_path() && !std::filesystem::exists(program, ignored)) {
    return fail(ErrorKind::tool,
                fmt::format("{}: no such program: it is built where MPI is installed (Debian's "
                            "package libopenmpi-dev); install that, then `make build`",
                            program.string()));
  }
  argv.insert(argv.begin(), {"mpirun", "-n", std::to_string(*options.ranks)});
  allow_here(options.workload.environment);
  return {};
}

std::optional<std::string> crowded_ranks(const RunOptions& options, size_t runs) {
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  if (!options.ranks || *options.ranks <= cores) return std::nullopt;
  return fmt::format(
      "workload.ranks={0}: {0} processes share {1} of this machine and wait for each other, in "
      "{2}; "
      "this may take minutes (workload.ranks={3} fits the machine)",
      *options.ranks, counted(cores, "core"), counted(runs, "run"), std::max<size_t>(cores, 2));
}

}  // namespace llmprof::session
