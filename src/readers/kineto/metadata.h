#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/kineto/array_stream.h"
#include "trace/builder.h"

namespace llmprof::readers {

struct KinetoDevice {
  uint32_t ordinal = 0;
  std::string name;
  uint64_t memory_bytes = 0;
  uint32_t sm_count = 0;
  std::string compute_capability;
};

// What a trace says of itself beside its events.
struct KinetoMetadata {
  std::string schema_version;
  std::string cuda_version;
  std::optional<int64_t> base_time_ns;
  std::optional<uint32_t> rank;
  std::optional<uint32_t> world_size;
  std::string host;
  std::vector<KinetoDevice> devices;
  bool rocm = false;  // recorded on AMD's GPUs
};

// Values of an unexpected kind are left out.
KinetoMetadata read_kineto_metadata(const KinetoEnvelope& envelope);

// Fills in the current capture, and those of its devices that have work: a trace lists every GPU of
// the machine. ROCm numbers the devices of events as nodes of the machine, CPUs among them, so that
// none can be told by its number there: they get what all listed GPUs have in common.
void describe_capture(const KinetoMetadata& metadata, trace::TraceBuilder& builder);

}  // namespace llmprof::readers
