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
#include "readers/collector_log/sane_values.h"
#include "trace/builder.h"
#include "trace/tables.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// Something the log says in words of its own.
struct Notice {
  Severity severity = Severity::info;
  std::string_view code;
  std::string message;
  uint64_t count = 1;
};

// What the records of a log said about the log itself, and what was wrong with them.
struct Findings {
  uint64_t rows = 0;
  uint64_t unknown = 0;
  uint64_t bad_values = 0;
  uint64_t dropped = 0;
  uint64_t cut_names = 0;
  uint64_t lost_names = 0;
  uint64_t lost_definitions = 0;  // rows left out for want of them
  uint64_t open_ranges = 0;
  uint64_t ends_without_start = 0;
  uint64_t outer_operators = 0;        // with others inside them
  uint64_t kernels_of_old_graphs = 0;  // whose nodes' creation is not in the log
  uint64_t overwritten_kernels = 0;    // of replays whose times were lost
  uint64_t cupti_dropped = 0;
  uint64_t counters_lost = 0;
  bool never_armed = false;
  bool closed = false;
  uint64_t chunks_when_closed = 0;
  std::vector<Notice> notices;
};

struct Record {
  wire::RecordType type = wire::RecordType::none;
  std::span<const char> payload;

  // False where the payload is too short for it. A longer one is of a newer collector, whose
  // further fields are not read.
  template <class Payload>
  [[nodiscard]] bool get(Payload& to) const {
    if (payload.size() < sizeof to) return false;
    std::memcpy(&to, payload.data(), sizeof to);
    return true;
  }
};

// Takes a record's payload out; false where it is too short or not sane, which is counted.
template <class Payload>
bool take(const Record& record, Payload& payload, Findings& findings) {
  if (record.get(payload) && is_sane(payload)) return true;
  ++findings.bad_values;
  return false;
}

// The records of one chunk, in order. What is damaged is stepped over, up to the next record whose
// checksum is right; where too much looks like records and is none, the rest of the chunk is
// damaged.
class Records {
 public:
  // `bytes` begin after the chunk's header; `sequence` is the chunk's place in the file.
  Records(std::span<const char> bytes, uint64_t sequence) : bytes_(bytes), sequence_(sequence) {}

  // False at the end. Inline: there are millions.
  bool next(Record& record) {
    if (!record_at(place_, record)) return next_behind_damage(record);
    place_ += sizeof(wire::RecordHeader) + record.payload.size();
    return true;
  }

  // Stretches of damaged bytes between or after records.
  [[nodiscard]] uint64_t damaged() const { return damaged_; }
  // Bytes after the last record, but no header: it was being written when the process ended.
  [[nodiscard]] bool unfinished() const { return unfinished_; }

 private:
  bool next_behind_damage(Record& record);
  // Whether bytes may be a header, by its type and size.
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
  size_t searched_ = 0;  // bytes of what looked like records behind damage
  uint64_t damaged_ = 0;
  bool unfinished_ = false;
};

// What small numbers of a log stand for. They are counted up from 1: a plain array finds them, but
// for the large ones that only a damaged log has.
template <class Value>
class Definitions {
 public:
  // The first one with a key stays.
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

  // In the order they came.
  [[nodiscard]] std::vector<Value>& values() { return values_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDense = 1U << 22U;

  std::vector<Value> values_;
  std::vector<uint32_t> places_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

// The strings of a log by their keys. A string may stand after its use in the file: ask when all
// records are read.
class Texts {
 public:
  Texts(trace::TraceBuilder& builder, Findings& findings)
      : builder_(builder), findings_(findings) {}

  // `bytes` are those behind the record's head.
  void add(const wire::Text& head, std::span<const char> bytes);

  // None for key 0, and for a lost string, which is counted.
  trace::StringId find(wire::StringKey key) const;
  // Its name where it is lost.
  trace::StringId find_name(wire::StringKey key) const;
  [[nodiscard]] std::string_view text(trace::StringId id) const {
    return id.valid() ? builder_.trace().strings[id] : std::string_view();
  }

 private:
  trace::TraceBuilder& builder_;
  Findings& findings_;
  Definitions<trace::StringId> texts_;
};

// As nsys and Linux write it: 3d79c6fb-8838-e918-5193-3fe6bfedd8a7.
inline std::string uuid_text(std::span<const uint8_t, 16> uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    const bool begins_group = i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", uuid[i]);
  }
  return text;
}

}  // namespace llmprof::readers::collector_log
