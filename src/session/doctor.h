#pragma once

#include <string>
#include <vector>

#include "capture/probes/doctor.h"
#include "report/terminal/text_layout.h"

namespace llmprof::session {

// What to try first on this machine: the command, and what it profiles. Empty where the default run
// is not possible either.
struct FirstCommand {
  std::string command;
  std::string about;
};
FirstCommand first_command(const std::vector<capture::Probe>& probes);

// A line for each probe, its fix below it, and at the end the command to try first.
std::string doctor_text(const std::vector<capture::Probe>& probes,
                        const report::TerminalStyle& style = {});

// {"can_run_on_cpu": bool, "first_command": text or null, "probes": [{"name", "state", "detail",
// "fix", "needed"}]}; fix is null where there is nothing to fix.
std::string doctor_json(const std::vector<capture::Probe>& probes);

}  // namespace llmprof::session
