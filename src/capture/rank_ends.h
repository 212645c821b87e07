#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::capture {

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
