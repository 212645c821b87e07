#include "exports/perfetto/packet_stream.h"

#include <utility>

namespace llmprof::exports {

void PacketStream::compress() {
  if (block_.empty()) return;
  ProtoWriter writer(file_);
  writer.message(fields::trace::kPacket,
                 [&] { writer.bytes(fields::packet::kCompressedPackets, zlib_.compress(block_)); });
  block_.clear();
}

std::string PacketStream::finish() && {
  compress();
  return std::move(file_);
}

}  // namespace llmprof::exports
