#pragma once

#include "exports/perfetto/trace_file.h"
#include "trace/trace.h"

namespace llmprof::exports {

// Every counter and sensor of one GPU. A sample's value holds from its start to its end; where no
// other begins there, the track falls to 0. What was read at an instant holds until the next.
void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file);

}  // namespace llmprof::exports
