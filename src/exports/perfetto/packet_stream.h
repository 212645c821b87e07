#pragma once

#include <cstdint>
#include <string>

#include "base/streams/zlib_block.h"
#include "exports/perfetto/fields.h"
#include "exports/perfetto/proto_writer.h"

namespace llmprof::exports {

// The packets of a trace file. They are compressed in blocks, as Perfetto's own recorder does.
class PacketStream {
 public:
  // Calls fill(writer), which writes the packet's fields.
  template <class Fill>
  void packet(const Fill& fill) {
    ProtoWriter writer(block_);
    writer.message(fields::trace::kPacket, [&] { fill(writer); });
    if (block_.size() >= kBlockBytes) compress();
  }

  [[nodiscard]] std::string finish() &&;

 private:
  static constexpr size_t kBlockBytes = 512UL << 10U;
  // zlib's own default: twice the time of level 1, three quarters of its size on timelines.
  static constexpr int kZlibLevel = 6;

  void compress();

  ZlibBlocks zlib_{kZlibLevel};
  std::string block_;
  std::string file_;
};

}  // namespace llmprof::exports
