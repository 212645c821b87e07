#pragma once

#include "cpu_llm/arguments.h"
#include "cpu_llm/ranks.h"

namespace cpu_llm {

inline constexpr int kFailed = 1;

// Runs the requests, prints a summary, and writes metrics.json if it is wanted. With `ranks`, all
// of them compute; rank 0 prints and writes. Returns the exit code.
int run_program(const Arguments& arguments, Ranks* ranks = nullptr);

}  // namespace cpu_llm
