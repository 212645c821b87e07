#pragma once

#include <string>

#include "base/error.h"
#include "exports/export_source.h"

namespace llmprof::exports {

// A trace of Perfetto with all that the captures hold of the program's time: GPUs with their
// streams, stages, steps, layers and counters; processes with their threads; arrows from launches
// to the work they launched. An error where no capture has a timeline.
Result<std::string> perfetto_trace(const ExportSource& source);

}  // namespace llmprof::exports
