#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/cuda_records.h"
#include "wire/log_format.h"

namespace llmprof::testing {

// A log like the collector's, in chunks of 1 KiB, with short names and few records.
class TestLog {
 public:
  TestLog() {
    header.chunk_bytes = wire::kSmallestChunkBytes;
    header.process_id = 4711;
    header.monotonic_ns = 1000;
    header.wall_ns = 1'700'000'000'000'001'000;
    std::memcpy(header.executable, "server", sizeof "server");
    bytes_.resize(sizeof header);
    chunk_header(wire::ChunkKind::control, 0);
  }

  void chunk(wire::ChunkKind kind, uint32_t thread) {
    bytes_.resize((bytes_.size() + header.chunk_bytes - 1) / header.chunk_bytes *
                  header.chunk_bytes);
    ++sequence_;
    chunk_header(kind, thread);
  }
  void thread_chunk(uint32_t serial, uint32_t thread_id) {
    chunk(wire::ChunkKind::thread, serial);
    add(wire::RecordType::thread_info, wire::ThreadInfo{serial, thread_id, "worker"});
  }

  template <class Payload>
  void add(wire::RecordType type, const Payload& payload) {
    add_bytes(type, {reinterpret_cast<const char*>(&payload), sizeof payload});
  }
  void add_text(wire::StringKey key, std::string_view text) {
    const wire::Text head = {key, static_cast<uint16_t>(text.size()), 0};
    std::string payload(reinterpret_cast<const char*>(&head), sizeof head);
    add_bytes(wire::RecordType::string, payload.append(text));
  }
  // A record that consists of a head and the following values.
  template <class Head, class Value>
  void add_list(wire::RecordType type, const Head& head, const std::vector<Value>& values) {
    std::string payload(reinterpret_cast<const char*>(&head), sizeof head);
    for (const Value& value : values) {
      payload.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    add_bytes(type, payload);
  }
  void add_kernels(int64_t base, const std::vector<wire::Kernel>& kernels) {
    const wire::KernelBatch batch = {base, static_cast<uint32_t>(kernels.size()), 0};
    add_list(wire::RecordType::kernels, batch, kernels);
  }
  void add_bytes(wire::RecordType type, std::string payload) {
    payload.resize(wire::aligned(payload.size()));
    const auto size = static_cast<uint16_t>(sizeof(wire::RecordHeader) + payload.size());
    const wire::RecordHeader head = {type, size,
                                     wire::record_checksum(sequence_, type, size, payload.data())};
    bytes_.append(reinterpret_cast<const char*>(&head), sizeof head).append(payload);
  }

  [[nodiscard]] size_t size() const { return bytes_.size(); }
  // The complete file.
  [[nodiscard]] std::string bytes() const {
    std::string all = bytes_;
    all.resize((all.size() + header.chunk_bytes - 1) / header.chunk_bytes * header.chunk_bytes);
    wire::FileHeader front = header;
    front.checksum = wire::header_checksum(front);
    std::memcpy(all.data(), &front, sizeof front);
    return all;
  }

  wire::FileHeader header{};

 private:
  void chunk_header(wire::ChunkKind kind, uint32_t thread) {
    const wire::ChunkHeader front = wire::chunk_header(kind, sequence_, thread);
    bytes_.append(reinterpret_cast<const char*>(&front), sizeof front);
  }

  std::string bytes_;
  uint64_t sequence_ = 0;
};

}  // namespace llmprof::testing
