#include "readers/collector_log/records.h"

#include <algorithm>

#include "base/text.h"
#include "trace/append.h"

namespace llmprof::readers::collector_log {

using wire::RecordType;

namespace {

// Without a limit, the time for a chunk full of false headers would grow with the square of its
// size.
constexpr size_t kMostTimesSearched = 64;

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

bool Records::is_zero_from(size_t place) const {
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(place);
  return std::all_of(from, bytes_.end(), [](char byte) { return byte == 0; });
}

bool Records::next_behind_damage(Record& record) {
  if (is_zero_from(place_)) return false;
  uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + place_, std::min(sizeof word, bytes_.size() - place_));
  for (size_t at = place_ + wire::kRecordAlignment; at < bytes_.size();
       at += wire::kRecordAlignment) {
    wire::RecordHeader header{};
    if (!header_at(at, header) || header.type >= wire::RecordType::end) continue;
    if (searched_ / kMostTimesSearched > bytes_.size()) break;
    searched_ += header.size;
    if (!record_at(at, record)) continue;
    ++damaged_;
    place_ = at + sizeof(wire::RecordHeader) + record.payload.size();
    return true;
  }
  if (word == 0) {
    unfinished_ = true;
  } else {
    ++damaged_;
  }
  place_ = bytes_.size();
  return false;
}

void DecodedChunks::clear() {
  stretches.clear();
  records.clear();
  trace::clear_rows(calls);
  trace::clear_rows(kernels);
  findings = {};
  chunks = 0;
  cut_off = false;
}

void DecodedChunks::parse(std::span<const char> window) {
  clear();
  while (!window.empty()) {
    const size_t size = std::min(chunk_bytes_, window.size());
    cut_off = size < chunk_bytes_;
    parse_chunk(window.first(size), first_ + chunks);
    window = window.subspan(size);
  }
  first_ += stride_;
}

// A damaged header loses only the thread's name: records have their own checksums.
void DecodedChunks::parse_chunk(std::span<const char> chunk, uint64_t sequence) {
  ++chunks;
  wire::ChunkHeader header{};
  if (chunk.size() < sizeof header) return;
  std::memcpy(&header, chunk.data(), sizeof header);
  const bool intact = header.magic == wire::kChunkMagic && header.sequence == sequence &&
                      header.checksum == wire::header_checksum(header);
  begin_stretch(true, intact ? header.thread : 0);
  Records found(chunk.subspan(sizeof header), sequence);
  uint64_t count = 0;
  for (Record record; found.next(record); ++count) add(record);
  end_stretch();
  findings.damaged_stretches += found.damaged();
  if (found.unfinished()) ++findings.unfinished_chunks;
  // A process that is killed while it takes a chunk leaves it all zero.
  const bool unused = header.magic == 0 && count == 0 && found.damaged() == 0;
  if (unused) ++findings.blank_chunks;
  if (!intact && !unused) ++findings.damaged_headers;
}

void DecodedChunks::begin_stretch(bool begins_chunk, uint32_t serial) {
  end_stretch();
  stretches.push_back({.begins_chunk = begins_chunk,
                       .serial = serial,
                       .first_record = records.size(),
                       .first_call = calls.size()});
}

void DecodedChunks::end_stretch() {
  if (stretches.empty()) return;
  stretches.back().records_end = records.size();
  stretches.back().calls_end = calls.size();
}

void DecodedChunks::add(const Record& record) {
  switch (record.type) {
    case RecordType::launch:
      stretches.back().any_calls = true;
      return decode_launch(record, calls, findings);
    case RecordType::api_call:
      stretches.back().any_calls = true;
      return decode_call(record, calls, findings);
    case RecordType::kernels:
      return decode_kernels(record, kernels, findings);
    case RecordType::long_kernel:
      return decode_long_kernel(record, kernels, findings);
    case RecordType::thread_info:
      begin_stretch(false, 0);
      break;
    default:
      break;
  }
  records.push_back(record);
}

void Texts::add(const wire::Text& head, std::span<const char> bytes) {
  if (bytes.size() < head.length) {
    ++findings_.bad_values;
    return;
  }
  if (head.cut != 0) ++findings_.cut_names;
  const std::string_view text(bytes.data(), head.length);
  texts_.add(head.key, builder_.string(to_printable(text)));
}

trace::StringId Texts::find(wire::StringKey key) const {
  if (key == 0) return {};
  if (const trace::StringId* known = texts_.find(key)) return *known;
  ++findings_.lost_names;
  return {};
}

trace::StringId Texts::find_name(wire::StringKey key) const {
  const trace::StringId name = find(key);
  return name.valid() ? name : builder_.string("(name lost)");
}

}  // namespace llmprof::readers::collector_log
