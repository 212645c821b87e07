#pragma once

#include <map>

#include "profile/timeline.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// How kernels came to each GPU that has kernels or graph replays. A launch is a call that put some
// on it; its work begins with the first of them.
using DeviceLaunches = std::map<trace::DeviceId, profile::Launches>;
DeviceLaunches find_launches(const trace::Trace& trace);

}  // namespace llmprof::analysis
