#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "session/doctor.h"

namespace llmprof::cli {
namespace {

struct Arguments {
  capture::DoctorOptions options;
  bool json = false;
};

int run(const Arguments& arguments) {
  const std::vector<capture::Probe> probes = capture::probe_machine(arguments.options);
  const std::string text =
      arguments.json ? session::doctor_json(probes) : session::doctor_text(probes);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (const int trouble = finish_output(); trouble != 0) return trouble;
  return capture::can_run_on_cpu(probes) ? 0 : static_cast<int>(ErrorKind::tool);
}

}  // namespace

void add_doctor_command(CLI::App& program, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "doctor", "Say what can be captured on this machine, what is missing, and the exact fix");
  command->add_flag("--json", arguments->json, "Print the same facts as JSON");
  command->add_option("--out", arguments->options.output_folder,
                      "Folder whose disk space counts [the current one]");
  command->add_option("--python", arguments->options.python,
                      "Python of the Hugging Face workload [python3]");
  command->footer(
      "Exit code 0: the default run, on the CPU, is possible; 4: it is not.\n"
      "Example: llmprof doctor");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace llmprof::cli
