#pragma once

#include <map>
#include <utility>

#include "trace/trace.h"

namespace llmprof::analysis {

// Until when each GPU worked on what its process had launched before recording began. The capture
// shows no such work, only that the first recorded work of a stream waited for it: long after its
// launch, while nothing recorded ran. GPUs without such a wait are not in the map.
std::map<std::pair<trace::ProcessId, trace::DeviceId>, Nanoseconds> unrecorded_beginnings(
    const trace::Trace& trace);

}  // namespace llmprof::analysis
