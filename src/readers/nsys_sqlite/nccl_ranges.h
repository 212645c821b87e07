#pragma once

#include <vector>

#include "readers/nsys_sqlite/nccl_payload.h"
#include "trace/builder.h"

namespace llmprof::readers {

// What the NVTX ranges of NCCL (ncclAllReduce, ...) and of PyTorch (nccl:all_reduce) say of the
// communication that is launched inside them, as rows of the trace's CollectiveTable. Calls between
// ncclGroupStart and ncclGroupEnd launch together, inside the latter. Also fills in the capture's
// rank and world size where nothing said them before: those in the largest communicator.
void add_nccl_collectives(const trace::RangeTable& ranges, std::vector<NcclPayload> payloads,
                          trace::TraceBuilder& builder);

}  // namespace llmprof::readers
