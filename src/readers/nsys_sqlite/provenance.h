#pragma once

#include "readers/nsys_sqlite/schema.h"
#include "trace/builder.h"

namespace llmprof {

// Version, start time, GPUs and driver of an export, from an allow-list of names: the metadata
// tables also hold command lines and whole environments, which are never read.
void read_nsys_provenance(const NsysSchema& schema, TraceBuilder& builder);

// What nsys itself says went wrong while it captured (dropped events and the like).
void read_nsys_diagnostics(const NsysSchema& schema, TraceBuilder& builder);

}  // namespace llmprof
