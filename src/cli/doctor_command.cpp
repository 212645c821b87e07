#include <cstdio>

#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "session/doctor.h"

namespace llmprof::cli {
namespace {

std::vector<capture::Probe> probe_watched(const capture::DoctorOptions& options) {
  ProgressLine progress;
  progress.begin("checking this machine");
  return capture::probe_machine(options);
}

}  // namespace

int doctor_command(const Arguments& arguments) {
  capture::DoctorOptions options;
  if (auto folder = arguments.path("--out")) options.output_folder = std::move(*folder);
  if (auto python = arguments.text("--python")) options.python = std::move(*python);
  const std::vector<capture::Probe> probes = probe_watched(options);
  if (arguments.flag("--json")) {
    print_json(session::doctor_json(probes));
  } else {
    print_rendered(session::doctor_text(probes, arguments.style()));
  }
  if (const int trouble = finish_output(); trouble != 0) return trouble;
  return capture::can_run_on_cpu(probes) ? 0 : static_cast<int>(ErrorKind::tool);
}

}  // namespace llmprof::cli
