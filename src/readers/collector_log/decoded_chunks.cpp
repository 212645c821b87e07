#include "readers/collector_log/decoded_chunks.h"

#include <algorithm>
#include <cstring>

#include "trace/append.h"

namespace llmprof::readers::collector_log {

using wire::RecordType;

namespace {

// Adds a call without its thread; its name is the log's code.
void add_call(Nanoseconds start, Nanoseconds end, uint32_t code, uint32_t correlation,
              trace::LaunchTable& calls) {
  calls.start.push_back(start);
  calls.end.push_back(end);
  calls.api.emplace_back(code);
  calls.correlation.push_back(correlation);
}

void decode_launch(const Record& record, trace::LaunchTable& calls, Findings& findings) {
  wire::Launch launch{};
  if (!take(record, launch, findings)) return;
  add_call(launch.start, launch.start + (launch.duration_and_code & wire::kLongestLaunch),
           launch.duration_and_code >> wire::kLaunchDurationBits, launch.correlation, calls);
}

void decode_call(const Record& record, trace::LaunchTable& calls, Findings& findings) {
  wire::ApiCall call{};
  if (!take(record, call, findings)) return;
  add_call(call.start, call.end, call.code, call.correlation, calls);
}

// The columns that are filled before a log's kernel definitions are known.
void resize_kernels(trace::KernelTable& kernels, size_t rows) {
  kernels.start.resize(rows);
  kernels.end.resize(rows);
  kernels.name.resize(rows);
  kernels.correlation.resize(rows);
}

// Decodes times, correlations and, as names, the keys of the definitions.
void decode_kernels(const Record& record, trace::KernelTable& kernels, Findings& findings) {
  wire::KernelBatch batch{};
  if (!take(record, batch, findings)) return;
  const std::span<const char> bytes = record.payload.subspan(sizeof batch);
  if (batch.count > bytes.size() / sizeof(wire::Kernel)) {
    ++findings.bad_values;
    return;
  }
  size_t row = kernels.size();
  resize_kernels(kernels, row + batch.count);
  for (uint32_t i = 0; i < batch.count; ++i) {
    wire::Kernel kernel{};
    std::memcpy(&kernel, bytes.data() + i * sizeof kernel, sizeof kernel);
    const Nanoseconds start = batch.base + kernel.start;
    if (start < 0 || kernel.definition == 0) {
      ++findings.bad_values;
      continue;
    }
    kernels.start[row] = start;
    kernels.end[row] = start + kernel.duration;
    kernels.name[row] = trace::StringId(kernel.definition);
    kernels.correlation[row] = kernel.correlation;
    ++row;
  }
  resize_kernels(kernels, row);
}

void decode_long_kernel(const Record& record, trace::KernelTable& kernels, Findings& findings) {
  wire::LongKernel kernel{};
  if (!take(record, kernel, findings)) return;
  resize_kernels(kernels, kernels.size() + 1);
  kernels.start.back() = kernel.start;
  kernels.end.back() = kernel.end;
  kernels.name.back() = trace::StringId(kernel.definition);
  kernels.correlation.back() = kernel.correlation;
}

}  // namespace

void DecodedChunks::clear() {
  stretches_.clear();
  records_.clear();
  trace::clear_rows(calls_);
  trace::clear_rows(kernels_);
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

// A damaged header loses only the thread's name: records have their own checksums.
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
  end_stretch();
  damage_.stretches += records.damaged();
  if (records.unfinished()) ++damage_.unfinished;
  // A process that is killed while it takes a chunk leaves it all zero.
  const bool unused = header.magic == 0 && found == 0 && records.damaged() == 0;
  if (unused) ++damage_.blank;
  if (!intact && !unused) ++damage_.headers;
}

void DecodedChunks::begin_stretch(bool begins_chunk, uint32_t serial) {
  end_stretch();
  stretches_.push_back({.begins_chunk = begins_chunk,
                        .serial = serial,
                        .first_record = records_.size(),
                        .first_call = calls_.size()});
}

void DecodedChunks::end_stretch() {
  if (stretches_.empty()) return;
  stretches_.back().records_end = records_.size();
  stretches_.back().calls_end = calls_.size();
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
