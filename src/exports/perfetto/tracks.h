#pragma once

#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"
#include "exports/perfetto/work_of_launches.h"
#include "trace/trace.h"

namespace llmprof::exports {

// Every counter and sensor of one GPU. A sample's value holds from its start to its end; where no
// other begins there, the track falls to 0. What was read at an instant holds until the next.
void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file);

// The processes of a trace with their threads: ranges, operators and calls, inside each other. The
// threads of a rank belong to the rank's own process where one is given.
void write_cpu_tracks(const PlacedSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file);

// The stages, steps and layers of what ran on one GPU; of no GPU where `device` is none.
void write_stage_tracks(const PlacedSource& source, trace::DeviceId device, TrackUuid parent,
                        TraceFile& file);

}  // namespace llmprof::exports
