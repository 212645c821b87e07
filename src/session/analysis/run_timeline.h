#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "session/bundle/inputs.h"

namespace llmprof::session {

// Each pass of a run is a run of its own: one of them is the timeline, or the same work would count
// several times. The collector's logs are where they hold GPU work; else nsys's export where that
// does; else the logs with their CPU operators. Takes the others out of `inputs` and says why.
void choose_timelines(std::vector<Input>& inputs, Diagnostics& notes);

}  // namespace llmprof::session
