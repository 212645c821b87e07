#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::cli {

inline constexpr std::string_view kVersion = LLMPROF_VERSION;

// Exit code 0: done. The others are ErrorKind's: 1 a fault of ours, 2 wrong usage, 3 unreadable
// input or nothing to analyse, 4 a tool is missing or failed.
int exit_code(const Error& error);

// Prints "llmprof: message" on stderr and returns the exit code.
int complain(const Error& error);

// What is being done, for people who wait at a terminal.
void show_progress(std::string_view what);

// To be called once all is printed: a full disk or a closed pipe behind stdout is the user's to
// know. Gives the exit code.
int finish_output();

// Each adds a command to the program; its callback stores the exit code.
void add_analyze_command(CLI::App& program, int& exit_code);
void add_artifacts_command(CLI::App& program, int& exit_code);
// `behind_dashes`: the program to run and its arguments, what stood behind `--`.
void add_run_command(CLI::App& program, std::vector<std::string> behind_dashes, int& exit_code);
void add_doctor_command(CLI::App& program, int& exit_code);
void add_arm_commands(CLI::App& program, int& exit_code);  // arm, disarm

}  // namespace llmprof::cli
