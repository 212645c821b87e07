#pragma once

#include "config/settings.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// The argument list that runs the workload: its command, or the program behind `--`.
std::vector<std::string> build_work_argv(config::Settings& settings,
                                         const std::vector<std::string>& program);

// The section `workload`; faults stay with the settings.
struct WorkloadOptions {
  WorkloadFacts facts;
  capture::WorkloadCommand command;
  std::optional<uint64_t> ranks;  // of a workload that runs under mpirun
};
WorkloadOptions read_workload_options(config::Settings settings,
                                      const std::vector<std::string>& program);

}  // namespace llmprof::session
