#pragma once

#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"
#include "exports/perfetto/work_of_launches.h"

namespace llmprof::exports {

// The processes of a trace with their threads: ranges, operators and calls, inside each other.
void write_cpu_tracks(const ExportSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, TraceFile& file);

}  // namespace llmprof::exports
