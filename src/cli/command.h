#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "base/error.h"

namespace llmprof {

inline constexpr std::string_view kVersion = LLMPROF_VERSION;

// Exit code 0: done. The others are ErrorKind's: 1 a fault of ours, 2 wrong usage, 3 unreadable
// input or nothing to analyse, 4 a tool is missing or failed.
int exit_code(const Error& error);

// Prints "llmprof: message" on stderr and returns the exit code.
int complain(const Error& error);

// Each adds a command to the program; its callback stores the exit code.
void add_analyze_command(CLI::App& program, int& exit_code);
void add_doctor_command(CLI::App& program, int& exit_code);

}  // namespace llmprof
