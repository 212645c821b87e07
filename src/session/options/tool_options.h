#pragma once

#include "config/settings.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// The sections `workload`, `nsys`, `ncu`, `torch` and `collector`; faults stay with the settings.
void read_workload_options(config::Settings settings, const std::vector<std::string>& program,
                           RunOptions& options);
capture::NsysOptions read_nsys_options(config::Settings settings);
capture::NcuOptions read_ncu_options(config::Settings settings);
TorchOptions read_torch_options(config::Settings settings);
CollectorOptions read_collector_options(config::Settings settings);

}  // namespace llmprof::session
