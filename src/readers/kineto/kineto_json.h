#pragma once

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {

struct KinetoOptions {
  size_t window_bytes = 256UL << 10U;  // read at once by one thread
  unsigned threads = 0;                // 0: as many as pay off
};

// Reads a stream as kKinetoReader does; `path` names it in the capture and in messages.
Result<void> read_kineto(ByteStream& stream, const std::filesystem::path& path,
                         trace::TraceBuilder& builder, const KinetoOptions& options = {});

}  // namespace llmprof::readers
