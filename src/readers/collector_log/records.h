#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "trace/builder.h"
#include "trace/tables.h"
#include "wire/cuda_records.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// Valid values of a record's fields. A record with any other value is damaged, or from a program
// that wrote nonsense, and is skipped.
inline bool is_time(int64_t time) { return time >= 0 && time < trace::kOpenEnd; }
inline bool is_interval(int64_t start, int64_t end) {
  return is_time(start) && is_time(end) && start <= end;
}

// Deeper nesting of ranges means damage.
inline constexpr uint32_t kDeepest = 1U << 16U;
// Far enough from both ends of the range that all kernels of a batch have valid times.
inline constexpr Nanoseconds kLatestBase = trace::kOpenEnd - (int64_t{1} << 34U);

template <class Payload>
bool has_sane_rest(const Payload&) {
  return true;
}
inline bool has_sane_rest(const wire::Step& step) {
  return step.kind >= wire::StepKind::prefill && step.kind <= wire::StepKind::mixed;
}
inline bool has_sane_rest(const wire::Launch& launch) {
  return launch.start >= 0 && launch.start < trace::kOpenEnd - wire::kLongestLaunch;
}
inline bool has_sane_rest(const wire::HostCall& call) {
  return call.start >= 0 && call.start < trace::kOpenEnd - UINT32_MAX &&
         call.kind >= wire::HostCallKind::kernel && call.kind <= wire::HostCallKind::driver_wait;
}
inline bool has_sane_rest(const wire::GraphNodeCreated& made) { return made.node != 0; }
inline bool has_sane_rest(const wire::GraphNodeCloned& made) {
  return made.node != 0 && made.original != 0 && made.node != made.original;
}
inline bool has_sane_rest(const wire::KernelDefinition& definition) { return definition.key != 0; }
inline bool has_sane_rest(const wire::MemoryDefinition& definition) {
  return definition.key != 0 && definition.kind <= 1;
}
inline bool has_sane_rest(const wire::KernelBatch& batch) {
  return batch.base >= 0 && batch.base < kLatestBase;
}
inline bool has_sane_rest(const wire::ReplayOverwritten& replay) { return replay.correlation != 0; }
inline bool has_sane_rest(const wire::ShortCounterSample& sample) {
  return sample.start >= 0 && sample.start < trace::kOpenEnd - UINT32_MAX;
}
inline bool has_sane_rest(const wire::TracingChange& change) {
  return change.state >= wire::TracingState::detached &&
         change.state <= wire::TracingState::stood_down &&
         change.reason <= wire::TracingReason::delay;
}
inline bool has_sane_rest(const wire::Waiting& waiting) {
  return waiting.what >= wire::WaitsFor::command && waiting.what <= wire::WaitsFor::delay;
}

// More than any machine has: sums of such sizes do not overflow.
inline constexpr uint64_t kMostMemory = uint64_t{1} << 50U;
inline constexpr uint32_t kMemoryKinds = 8;  // CUpti_ActivityMemoryKind
inline bool has_sane_rest(const wire::MemoryEvent& event) {
  return event.action >= wire::MemoryAction::allocation &&
         event.action <= wire::MemoryAction::module_loaded && event.kind < kMemoryKinds &&
         event.bytes < kMostMemory && event.pool_bytes < kMostMemory &&
         event.pool_used_bytes < kMostMemory;
}
inline bool has_sane_rest(const wire::MemoryReading& reading) {
  const auto is_sane_part = [&](uint64_t bytes) { return bytes <= reading.total_bytes; };
  const auto is_sane_process = [](uint64_t bytes) {
    return bytes < kMostMemory || bytes == wire::kUnknownBytes;
  };
  return reading.moment >= wire::MemoryReadingMoment::before_context &&
         reading.moment <= wire::MemoryReadingMoment::end && reading.total_bytes < kMostMemory &&
         is_sane_part(reading.free_bytes) && is_sane_part(reading.used_bytes) &&
         is_sane_part(reading.reserved_bytes) && is_sane_process(reading.own_bytes) &&
         is_sane_process(reading.other_bytes);
}
inline bool has_sane_rest(const wire::CuptiMemory& buffers) {
  constexpr uint64_t kMostBuffers = 1U << 10U;
  return buffers.buffer_bytes < kMostMemory / kMostBuffers && buffers.buffers < kMostBuffers;
}

// Checks times, depths and references, which have the same names in all records, then the rest.
template <class Payload>
bool is_sane(const Payload& record) {
  bool sane = true;
  if constexpr (requires { record.time; }) sane = is_time(record.time);
  if constexpr (requires { record.end; }) sane = is_interval(record.start, record.end);
  if constexpr (requires { record.depth; }) sane = sane && record.depth < kDeepest;
  if constexpr (requires { record.definition; }) sane = sane && record.definition != 0;
  if constexpr (requires { record.set; }) sane = sane && record.set != 0;
  return sane && has_sane_rest(record);
}

// What a log says about itself, and what is wrong with it.
struct Findings {
  uint64_t damaged_headers = 0;    // of chunks
  uint64_t damaged_stretches = 0;  // of records
  uint64_t unfinished_chunks = 0;
  uint64_t blank_chunks = 0;  // all zero
  uint64_t rows = 0;
  uint64_t unknown = 0;
  uint64_t bad_values = 0;
  uint64_t dropped = 0;
  uint64_t cut_names = 0;
  uint64_t lost_names = 0;
  uint64_t lost_definitions = 0;  // rows skipped because their definition is lost
  uint64_t open_ranges = 0;
  uint64_t ends_without_start = 0;
  uint64_t outer_operators = 0;        // with others inside them
  uint64_t kernels_of_old_graphs = 0;  // their nodes' creation is not in the log
  uint64_t overwritten_kernels = 0;    // of replays whose times were overwritten
  uint64_t cupti_dropped = 0;
  uint64_t counters_lost = 0;
  bool never_armed = false;
  bool closed = false;
  uint64_t chunks_when_closed = 0;
  std::vector<Diagnostic> notices;  // in the log's own words
};

struct Record {
  wire::RecordType type = wire::RecordType::none;
  std::span<const char> payload;

  // False if the payload is too short. A longer one is from a newer collector; its additional
  // fields are not read.
  template <class Payload>
  [[nodiscard]] bool get(Payload& to) const {
    if (payload.size() < sizeof to) return false;
    std::memcpy(&to, payload.data(), sizeof to);
    return true;
  }
};

// Reads a record's payload; false, and counted as bad, if it is too short or not sane.
template <class Payload>
bool take(const Record& record, Payload& payload, Findings& findings) {
  if (record.get(payload) && is_sane(payload)) return true;
  ++findings.bad_values;
  return false;
}

// The records of one chunk, in order. Damage is skipped up to the next record with a correct
// checksum. If too many bytes look like records but are not, the rest of the chunk counts as
// damaged.
class Records {
 public:
  // `bytes` start after the chunk's header; `sequence` is the chunk's index in the file.
  Records(std::span<const char> bytes, uint64_t sequence) : bytes_(bytes), sequence_(sequence) {}

  // False at the end. Inline: there are millions.
  bool next(Record& record) {
    if (!record_at(place_, record)) return next_behind_damage(record);
    place_ += sizeof(wire::RecordHeader) + record.payload.size();
    return true;
  }

  // Number of damaged stretches between or after records.
  [[nodiscard]] uint64_t damaged() const { return damaged_; }
  // There are bytes after the last record but no header: it was being written when the process
  // ended.
  [[nodiscard]] bool unfinished() const { return unfinished_; }

 private:
  bool next_behind_damage(Record& record);
  // Whether bytes may be a header, judged by type and size.
  [[nodiscard]] bool header_at(size_t place, wire::RecordHeader& header) const {
    if (bytes_.size() - place < sizeof header) return false;
    std::memcpy(&header, bytes_.data() + place, sizeof header);
    return header.type != wire::RecordType::none && header.size >= sizeof header &&
           header.size % wire::kRecordAlignment == 0 && header.size <= bytes_.size() - place;
  }
  [[nodiscard]] bool record_at(size_t place, Record& record) const {
    wire::RecordHeader header{};
    if (!header_at(place, header)) return false;
    const char* payload = bytes_.data() + place + sizeof header;
    if (header.checksum != wire::record_checksum(sequence_, header.type, header.size, payload)) {
      return false;
    }
    record = {header.type, {payload, header.size - sizeof header}};
    return true;
  }
  [[nodiscard]] bool is_zero_from(size_t place) const;

  std::span<const char> bytes_;
  uint64_t sequence_;
  size_t place_ = 0;
  size_t searched_ = 0;  // bytes that looked like records after damage
  uint64_t damaged_ = 0;
  bool unfinished_ = false;
};

// Consecutive records of one thread: rows of DecodedChunks::records and calls.
struct ThreadRecords {
  bool begins_chunk = false;  // by thread `serial`; otherwise the first record is a ThreadInfo
  uint32_t serial = 0;
  size_t first_record = 0;
  size_t records_end = 0;
  size_t first_call = 0;
  size_t calls_end = 0;
  bool any_calls = false;  // even if none is sane
};

// Neighboring chunks of a log, decoded independently of the others, so that several threads can
// work at once. Records that come by the million are stored in columns; names hold the log's own
// codes and keys.
class DecodedChunks {
 public:
  // `parse` takes windows of chunks of this size: the first window starts with chunk `first`, each
  // later one `stride` chunks after the previous one.
  DecodedChunks(size_t chunk_bytes, uint64_t first, uint64_t stride)
      : chunk_bytes_(chunk_bytes), first_(first), stride_(stride) {}

  // The result refers to the window's bytes. The last chunk may be cut off.
  void parse(std::span<const char> window);
  // `chunk` excludes the file's header.
  void parse_chunk(std::span<const char> chunk, uint64_t sequence);

  std::vector<ThreadRecords> stretches;  // in the order of the file
  std::vector<Record> records;           // all except those in columns
  trace::LaunchTable calls;              // without their threads
  trace::KernelTable kernels;            // only times, names and correlations
  Findings findings;                     // damage, and what the columns do not include
  uint64_t chunks = 0;
  bool cut_off = false;

 private:
  void clear();
  void begin_stretch(bool begins_chunk, uint32_t serial);
  void end_stretch();
  void add(const Record& record);

  size_t chunk_bytes_;
  uint64_t first_;
  uint64_t stride_;
};

// What a log's small numbers stand for. They count up from 1, so a plain array is used, except for
// large numbers, which only a damaged log has.
template <class Value>
class Definitions {
 public:
  // The first definition of a key is kept.
  void add(uint32_t key, const Value& value) {
    if (find(key) != nullptr) return;
    if (key < kDense) {
      if (key >= places_.size()) places_.resize(size_t{key} + 1, kNone);
      places_[key] = static_cast<uint32_t>(values_.size());
    } else {
      sparse_.emplace(key, static_cast<uint32_t>(values_.size()));
    }
    values_.push_back(value);
  }
  [[nodiscard]] const Value* find(uint32_t key) const {
    if (key < kDense) {
      return key < places_.size() && places_[key] != kNone ? &values_[places_[key]] : nullptr;
    }
    const auto known = sparse_.find(key);
    return known == sparse_.end() ? nullptr : &values_[known->second];
  }

  // In order of arrival.
  [[nodiscard]] std::vector<Value>& values() { return values_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDense = 1U << 22U;

  std::vector<Value> values_;
  std::vector<uint32_t> places_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

// The strings of a log by their keys. A string may follow its use in the file: look it up after
// reading all records.
class Texts {
 public:
  Texts(trace::TraceBuilder& builder, Findings& findings)
      : builder_(builder), findings_(findings) {}

  // `bytes` are those after the record's head.
  void add(const wire::Text& head, std::span<const char> bytes);

  // None for key 0, and for a lost string, which is counted.
  trace::StringId find(wire::StringKey key) const;
  // A placeholder for a lost string.
  trace::StringId find_name(wire::StringKey key) const;
  [[nodiscard]] std::string_view text(trace::StringId id) const {
    return id.valid() ? builder_.trace().strings[id] : std::string_view();
  }

 private:
  trace::TraceBuilder& builder_;
  Findings& findings_;
  Definitions<trace::StringId> texts_;
};

// In the format of nsys and Linux: 3d79c6fb-8838-e918-5193-3fe6bfedd8a7.
inline std::string uuid_text(std::span<const uint8_t, 16> uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    const bool begins_group = i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", uuid[i]);
  }
  return text;
}

}  // namespace llmprof::readers::collector_log
