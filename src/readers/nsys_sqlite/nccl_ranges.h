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

// The payload that NCCL attaches to its own NVTX ranges.
struct NcclPayload {
  trace::ThreadId thread;  // of the range
  Nanoseconds start = 0;   // of the range
  uint64_t communicator = 0;
  std::optional<uint64_t> bytes;  // of one rank's message
  std::optional<uint32_t> ranks;  // of the communicator, when it is created
  std::optional<uint32_t> rank;   // in the communicator, when it is created
  size_t place = 0;               // index of the range among all rows
};

// NCCL's payloads in an export: NVTX_PAYLOAD_SCHEMA_ENTRIES says where fields are in the bytes of
// NVTX_EVENTS.binaryData, after a header of four 64-bit numbers (domain, schema, size, offset).
class NcclPayloads {
 public:
  explicit NcclPayloads(const NsysSchema& schema);

  // Does not set the place. None if the payload is not NCCL's or is too short. Thread-safe.
  [[nodiscard]] std::optional<NcclPayload> read(std::string_view bytes) const;

 private:
  struct Field {
    uint32_t offset = 0;
    uint32_t width = 0;  // 0: not in the schema
  };
  struct Fields {
    Field communicator, bytes, ranks, rank;
  };
  std::map<uint32_t, Fields> by_schema_;
};

// Adds what the NVTX ranges of NCCL (ncclAllReduce, ...) and PyTorch (nccl:all_reduce) say about
// the communication launched inside them to the trace's CollectiveTable. Calls between
// ncclGroupStart and ncclGroupEnd launch together, inside the latter. Also fills in the capture's
// rank and world size if they are still unknown, from the largest communicator.
void add_nccl_collectives(const trace::RangeTable& ranges, std::vector<NcclPayload> payloads,
                          trace::TraceBuilder& builder);

}  // namespace llmprof::readers
