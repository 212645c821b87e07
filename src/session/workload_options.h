#pragma once

#include "config/settings.h"
#include "session/run_options.h"

namespace llmprof {

// The section `workload`; faults stay with the settings.
struct WorkloadOptions {
  WorkloadFacts facts;
  WorkloadCommand command;
};
WorkloadOptions read_workload_options(Settings settings, const std::vector<std::string>& program);

}  // namespace llmprof
