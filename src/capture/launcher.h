#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmprof::capture {

enum class LauncherKind : uint8_t { mpi, torchrun, srun };

// A program that starts the ranks of a distributed job.
struct Launcher {
  LauncherKind kind = LauncherKind::mpi;
  std::string name;               // "mpirun", as it was typed
  std::optional<uint64_t> ranks;  // that its command line asks for; none if it does not say
  // One launcher per machine: this one starts only some of the job's ranks.
  bool one_of_several = false;
  bool names_hosts = false;  // other machines, which do not have this one's environment
};

// The launcher that a command line starts, also after `env NAME=VALUE ...`. None if it starts
// something else; scripts that call a launcher are not examined.
std::optional<Launcher> find_launcher(const std::vector<std::string>& argv);

// Several ranks, or a number that the launcher chooses.
inline bool starts_several_ranks(const Launcher& launcher) {
  return launcher.one_of_several || launcher.ranks.value_or(2) > 1;
}

// The command line that runs a workload with these variables. Open MPI's mpirun passes only listed
// variables to ranks on other machines: if it names hosts, `-x NAME` is added for each. Other
// launchers pass on all variables, and other programs are unchanged.
std::vector<std::string> exported_argv(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& variables);

// How a rank's process ended, according to its launcher.
struct RankEnd {
  std::optional<uint64_t> rank;
  std::optional<uint64_t> process;  // if the launcher names it instead of the rank
  std::string how;                  // "signal 9 (Killed)", "exit code 3"
  bool by_launcher = false;         // which ended it because of another rank's end
};

// Ranks that did not end well, from the output of mpirun (Open MPI, MPICH, Intel MPI), srun or
// torchrun. Each rank once, with the first message about it.
std::vector<RankEnd> rank_ends_in(std::string_view output);

}  // namespace llmprof::capture
