#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/kineto/array_stream.h"
#include "trace/builder.h"

namespace llmprof::readers {

// Fills in the current capture, and those of its devices that have work: a trace lists every GPU of
// the machine. ROCm numbers the devices of events as nodes of the machine, CPUs among them, so that
// none can be recognized by its number: they get what all listed GPUs have in common. Values of an
// unexpected kind are left out.
void describe_capture(const KinetoEnvelope& envelope, trace::TraceBuilder& builder);

}  // namespace llmprof::readers
