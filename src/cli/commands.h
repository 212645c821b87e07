#pragma once

#include "cli/arguments.h"

namespace llmprof::cli {

// One for each command of the table. Each gives the exit code.
int run_command(const Arguments& arguments);
int analyze_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int open_command(const Arguments& arguments);
int diff_command(const Arguments& arguments);
int artifacts_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
int arm_command(const Arguments& arguments);
int disarm_command(const Arguments& arguments);
int version_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);
int manual_command(const Arguments& arguments);

}  // namespace llmprof::cli
