#include "exports/perfetto/packet_stream.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/streams/deflate.h"

namespace llmprof::exports {
namespace {

// Of one million kernels: level 1 takes 0.8 s and leaves 34 bytes per kernel, 5 takes 2.1 s and
// leaves 30, 9 takes 28 s and leaves 28. A large file must not take longer than reading its
// captures does; in a small one, names and metrics weigh more than events, and time does not
// matter.
constexpr int kThorough = 5;
constexpr int kQuick = 1;
constexpr size_t kThoroughBlocks = 8;

}  // namespace

void PacketStream::compress() {
  if (block_.empty()) return;
  const size_t threads = std::max(1U, std::thread::hardware_concurrency());
  while (compressing_.size() >= threads) take_first();
  const int level = blocks_++ < kThoroughBlocks ? kThorough : kQuick;
  compressing_.push_back(std::async(std::launch::async, [block = std::exchange(block_, {}), level] {
    return zlib_compressed(block.view(), level);
  }));
  constexpr size_t kLargestPacket = 4096;  // most are far smaller
  block_.reserve(kBlockBytes + kLargestPacket);
}

void PacketStream::take_first() {
  const std::string block = compressing_.front().get();
  compressing_.pop_front();
  ProtoBuffer packet;
  ProtoWriter writer(packet);
  writer.message(fields::trace::kPacket,
                 [&] { writer.bytes(fields::packet::kCompressedPackets, block); });
  file_.append(packet.view());
}

std::string PacketStream::finish() && {
  compress();
  while (!compressing_.empty()) take_first();
  return std::move(file_);
}

}  // namespace llmprof::exports
