#pragma once

#include <string>
#include <vector>

#include "capture/probes/doctor.h"

namespace llmprof::session {

// A line for each probe, its fix below it, and at the end what they mean for `llmprof run`.
std::string doctor_text(const std::vector<capture::Probe>& probes);

// {"can_run_on_cpu": bool, "probes": [{"name", "state", "detail", "fix", "needed"}]}; fix is null
// where there is nothing to fix.
std::string doctor_json(const std::vector<capture::Probe>& probes);

}  // namespace llmprof::session
