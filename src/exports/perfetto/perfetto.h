#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "exports/export_source.h"

namespace llmprof::exports {

// A trace of Perfetto with all that the captures hold of the program's time: GPUs with their
// streams, stages, steps, layers and counters; processes with their threads; arrows from launches
// to the work they launched. An error where no capture has a timeline.
Result<std::string> perfetto_trace(const ExportSource& source);

// Of several ranks on the job's clock. Each is a process that holds its GPUs and its threads.
Result<std::string> perfetto_trace(std::span<const RankSource> ranks);

}  // namespace llmprof::exports
