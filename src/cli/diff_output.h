#pragma once

#include "report/terminal/style.h"
#include "session/diff/diff.h"

namespace llmprof::cli {

void print_diff(const session::DiffOutcome& outcome, bool json, const report::TerminalStyle& style);

}  // namespace llmprof::cli
