#pragma once

#include "readers/nsys_sqlite/schema.h"
#include "trace/builder.h"

namespace llmprof::readers {

// Version, start time, GPUs and driver of an export, from an allow-list of names: the metadata
// tables also hold command lines and whole environments, which are never read.
void read_nsys_provenance(const NsysSchema& schema, trace::TraceBuilder& builder);

// What nsys itself says went wrong while it recorded (dropped events and the like).
void read_nsys_diagnostics(const NsysSchema& schema, trace::TraceBuilder& builder);

}  // namespace llmprof::readers
