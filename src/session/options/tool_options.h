#pragma once

#include "config/settings.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// The sections `workload`, `nsys`, `ncu`, `torch` and `collector`.
void read_workload_options(config::Settings& settings, const std::vector<std::string>& program,
                           RunOptions& options);
// `load` of `workload.server`, read after `ready`. Refuses what `llmprof load` refuses before it
// sends: wrong values, options that contradict each other, files that cannot be read.
void read_load_options(config::Settings& settings, capture::ServerWorkload& server);
void read_nsys_options(config::Settings& settings, capture::NsysOptions& options);
void read_ncu_options(config::Settings& settings, capture::NcuOptions& options);
void read_torch_options(config::Settings& settings, TorchOptions& options);
void read_collector_options(config::Settings& settings, CollectorOptions& options);

}  // namespace llmprof::session
