#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "readers/nsys_sqlite/sqlite_file.h"
#include "trace/builder.h"
#include "trace/ids.h"
#include "trace/tables.h"

namespace llmprof::readers {

// What NCCL attaches to an NVTX range of its own.
struct NcclPayload {
  trace::ThreadId thread;  // and
  Nanoseconds start = 0;   // of the range
  uint64_t communicator = 0;
  std::optional<uint64_t> bytes;  // of the message of one rank
  std::optional<uint32_t> ranks;  // of the communicator, when it is made
  std::optional<uint32_t> rank;   // likewise, in it
  size_t place = 0;               // of the range among all rows
};

// NCCL's payloads in an export: NVTX_PAYLOAD_SCHEMA_ENTRIES says where fields are in the bytes
// that NVTX_EVENTS.binaryData holds, behind a header of four 64-bit numbers (domain, schema, size,
// offset).
class NcclPayloads {
 public:
  explicit NcclPayloads(const NsysSchema& schema);

  // Without its place. None for what is not NCCL's, or is too short. Safe for threads.
  [[nodiscard]] std::optional<NcclPayload> read(std::string_view bytes) const;

 private:
  struct Field {
    uint32_t offset = 0;
    uint32_t width = 0;  // 0: the schema does not have it
  };
  struct Fields {
    Field communicator, bytes, ranks, rank;
  };
  std::map<uint32_t, Fields> by_schema_;
};

// What the NVTX ranges of NCCL (ncclAllReduce, ...) and of PyTorch (nccl:all_reduce) say of the
// communication that is launched inside them, as rows of the trace's CollectiveTable. Calls between
// ncclGroupStart and ncclGroupEnd launch together, inside the latter. Also fills in the capture's
// rank and world size where nothing said them before: those in the largest communicator.
void add_nccl_collectives(const trace::RangeTable& ranges, std::vector<NcclPayload> payloads,
                          trace::TraceBuilder& builder);

}  // namespace llmprof::readers
