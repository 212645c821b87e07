#pragma once

#include <string>
#include <utility>
#include <vector>

namespace llmprof::capture {

// The command line that runs a workload with these variables. Open MPI's mpirun hands only the
// variables that it is told of to ranks on other machines: where it names hosts, `-x NAME` is added
// for each. Other launchers hand on all, and other programs stay as they are.
std::vector<std::string> exported_argv(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace llmprof::capture
