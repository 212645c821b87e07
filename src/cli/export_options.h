#pragma once

#include "cli/arguments.h"
#include "session/analysis/analyze_options.h"

namespace llmprof::cli {

// --perfetto and --speedscope, of a command that has them.
inline session::Exports exports_of(const Arguments& arguments) {
  return {arguments.flag("--perfetto"), arguments.flag("--speedscope")};
}

}  // namespace llmprof::cli
