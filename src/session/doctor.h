#pragma once

#include <string>
#include <vector>

#include "capture/probes/doctor.h"
#include "report/terminal/text_layout.h"

namespace llmprof::session {

// The command to try first on this machine, and what it profiles. Empty if not even the default run
// is possible.
struct FirstCommand {
  std::string command;
  std::string about;
};
FirstCommand first_command(const std::vector<capture::Probe>& probes);

// One line per probe with its fix below, then the command to try first.
std::string doctor_text(const std::vector<capture::Probe>& probes,
                        const report::TerminalStyle& style = {});

// {"can_run_on_cpu": bool, "first_command": text or null, "probes": [{"name", "state", "detail",
// "fix", "needed"}]}; fix is null if there is nothing to fix.
std::string doctor_json(const std::vector<capture::Probe>& probes);

}  // namespace llmprof::session
