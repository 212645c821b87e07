#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/probes/doctor.h"
#include "cli/arguments.h"
#include "session/analysis/analyze.h"
#include "session/diff/diff.h"

namespace llmprof::cli {

// One function per command of the table. Each returns the exit code.
int run_command(const Arguments& arguments);
int analyze_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int open_command(const Arguments& arguments);
int diff_command(const Arguments& arguments);
int artifacts_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
int fit_command(const Arguments& arguments);
int load_command(const Arguments& arguments);
int query_command(const Arguments& arguments);
int export_command(const Arguments& arguments);
int mcp_command(const Arguments& arguments);
int arm_command(const Arguments& arguments);
int disarm_command(const Arguments& arguments);
int version_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);
int manual_command(const Arguments& arguments);

// Default number of rows in the kernel table.
inline constexpr size_t kTerminalRows = 20;

// Prints the result of `analyze` and `run`: the overview and the bundle's path, or profile.json.
void print_analysis(const session::Analysis& analysis, size_t kernel_rows,
                    const Arguments& arguments);
// The same for a comparison.
void print_diff(const session::DiffOutcome& outcome, const Arguments& arguments);

// Prints the table of --timings to stderr if it was requested.
void print_timings(std::span<const session::PartTiming> parts, const Arguments& arguments);

// For a command that has the export options.
session::Exports exports_of(const Arguments& arguments);

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

}  // namespace llmprof::cli
