#include "readers/collector_log/decoded_chunks.h"

#include <algorithm>

#include "readers/collector_log/device_rows.h"
#include "readers/collector_log/launch_rows.h"

namespace llmprof::readers::collector_log {

using wire::RecordType;

void DecodedChunks::clear() {
  stretches_.clear();
  records_.clear();
  const auto empty = [](auto& column) { column.clear(); };
  trace::each_column(calls_, empty);
  trace::each_column(kernels_, empty);
  damage_ = {};
  findings_ = {};
  chunks_ = 0;
  cut_off_ = false;
}

void DecodedChunks::parse(std::span<const char> window) {
  clear();
  while (!window.empty()) {
    const size_t size = std::min(chunk_bytes_, window.size());
    cut_off_ = size < chunk_bytes_;
    parse_chunk(window.first(size), first_ + chunks_);
    window = window.subspan(size);
  }
  first_ += stride_;
}

// A damaged header costs nothing but the thread's name: records carry checksums of their own.
void DecodedChunks::parse_chunk(std::span<const char> chunk, uint64_t sequence) {
  ++chunks_;
  wire::ChunkHeader header{};
  if (chunk.size() < sizeof header) return;
  std::memcpy(&header, chunk.data(), sizeof header);
  const bool intact = header.magic == wire::kChunkMagic && header.sequence == sequence &&
                      header.checksum == wire::header_checksum(header);
  begin_stretch(true, intact ? header.thread : 0);
  Records records(chunk.subspan(sizeof header), sequence);
  Record record;
  uint64_t found = 0;
  for (; records.next(record); ++found) add(record);
  damage_.stretches += records.damaged();
  if (records.unfinished()) ++damage_.unfinished;
  // A process that is killed while it takes a chunk leaves it all zero.
  const bool unused = header.magic == 0 && found == 0 && records.damaged() == 0;
  if (unused) ++damage_.blank;
  if (!intact && !unused) ++damage_.headers;
}

void DecodedChunks::begin_stretch(bool begins_chunk, uint32_t serial) {
  stretches_.push_back({begins_chunk, serial, records_.size(), calls_.size(), false});
}

void DecodedChunks::add(const Record& record) {
  switch (record.type) {
    case RecordType::launch:
      stretches_.back().any_calls = true;
      return decode_launch(record, calls_, findings_);
    case RecordType::api_call:
      stretches_.back().any_calls = true;
      return decode_call(record, calls_, findings_);
    case RecordType::kernels:
      return decode_kernels(record, kernels_, findings_);
    case RecordType::long_kernel:
      return decode_long_kernel(record, kernels_, findings_);
    case RecordType::thread_info:
      begin_stretch(false, 0);
      break;
    default:
      break;
  }
  records_.push_back(record);
}

}  // namespace llmprof::readers::collector_log
