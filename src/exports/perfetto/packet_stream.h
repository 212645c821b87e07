#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <string>

#include "exports/perfetto/fields.h"
#include "exports/perfetto/proto_writer.h"

namespace llmprof::exports {

// The packets of a trace file. They are compressed in blocks, as Perfetto's own recorder does, on
// threads of their own: that takes longer than writing them.
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
  static constexpr size_t kBlockBytes = 1UL << 20U;

  void compress();
  void take_first();

  ProtoBuffer block_;
  size_t blocks_ = 0;                                 // that are compressed, or being so
  std::deque<std::future<std::string>> compressing_;  // in the order of the file
  std::string file_;
};

}  // namespace llmprof::exports
