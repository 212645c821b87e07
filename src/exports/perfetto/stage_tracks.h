#pragma once

#include "exports/export_source.h"
#include "exports/perfetto/trace_file.h"

namespace llmprof::exports {

// The stages, steps and layers of what ran on one GPU; of no GPU where `device` is none.
void write_stage_tracks(const PlacedSource& source, trace::DeviceId device, TrackUuid parent,
                        TraceFile& file);

}  // namespace llmprof::exports
