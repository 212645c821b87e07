#pragma once

#include <vector>

#include "analysis/stages/stages.h"
#include "profile/stage_streams.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// By stage, then device and stream.
std::vector<profile::StageStream> find_stage_streams(const trace::Trace& trace,
                                                     const Stages& stages);

}  // namespace llmprof::analysis
