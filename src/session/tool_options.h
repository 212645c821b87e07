#pragma once

#include "config/settings.h"
#include "session/run_options.h"

namespace llmprof {

// The sections `nsys`, `ncu`, `torch` and `collector`; faults stay with the settings.
NsysOptions read_nsys_options(Settings settings);
NcuOptions read_ncu_options(Settings settings);
TorchOptions read_torch_options(Settings settings);
CollectorOptions read_collector_options(Settings settings);

}  // namespace llmprof
