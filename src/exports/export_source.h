#pragma once

#include <string_view>

#include "analysis/passes/results.h"
#include "trace/trace.h"

namespace llmprof::exports {

// What files for other viewers are made of: an analyzed trace and what the passes found in it.
struct ExportSource {
  const trace::Trace& trace;
  const analysis::Results& results;
  std::string_view tool_version;  // of llmprof
};

}  // namespace llmprof::exports
