#pragma once

#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"
#include "exports/perfetto/work_of_launches.h"

namespace llmprof::exports {

// The processes of a trace with their threads: ranges, operators and calls, inside each other. The
// threads of a rank belong to the rank's own process where one is given.
void write_cpu_tracks(const PlacedSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file);

}  // namespace llmprof::exports
