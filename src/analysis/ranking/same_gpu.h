#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// The devices that kernels ran on, one list a GPU: captures of several runs know one GPU as a
// device each. Devices of one capture are different GPUs. Of two captures they are the same with
// equal uuids; where one does not know it, with equal name (or none) and ordinal, unless the
// captures are of different ranks or hosts.
std::vector<std::vector<trace::DeviceId>> gpus_with_kernels(const trace::Trace& trace);

// The most captures that one GPU has kernels in.
size_t runs_on_one_gpu(const trace::Trace& trace);

}  // namespace llmprof::analysis
