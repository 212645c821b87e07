#pragma once

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"

namespace llmprof {

// Why the timeline of a workload that uses CUDA may hold no kernel, and what helps.
Error zero_kernels(const NsysOptions& options);

}  // namespace llmprof
