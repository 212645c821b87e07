#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::capture {

// How a rank's process ended, as its launcher said.
struct RankEnd {
  std::optional<uint64_t> rank;
  std::optional<uint64_t> process;  // where the launcher names that instead
  std::string how;                  // "signal 9 (Killed)", "exit code 3"
  bool by_launcher = false;         // which ended it because of another rank
};

// What the output of mpirun (Open MPI, MPICH, Intel MPI), srun or torchrun says of ranks that did
// not end well. Each rank once, with what was said of it first.
std::vector<RankEnd> rank_ends_in(std::string_view output);

}  // namespace llmprof::capture
