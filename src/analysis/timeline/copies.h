#pragma once

#include <string_view>
#include <vector>

#include "profile/timeline.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Over the whole timeline; by device, then longest total first.
std::vector<profile::Copies> find_copies(const trace::Trace& trace);

// "pageable", "device"; empty where it is not known.
std::string_view to_string(trace::MemoryPlace place);

}  // namespace llmprof::analysis
