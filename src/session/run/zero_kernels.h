#pragma once

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"

namespace llmprof::session {

// Why the timeline of a workload that uses CUDA may hold no kernel, and what helps.
Error zero_kernels(const capture::NsysOptions& options);

}  // namespace llmprof::session
