#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

#include "readers/collector_log/findings.h"
#include "trace/tables.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

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

inline bool is_time(int64_t time) { return time >= 0 && time < trace::kOpenEnd; }
inline bool is_interval(int64_t start, int64_t end) {
  return is_time(start) && is_time(end) && start <= end;
}

// Takes a record's payload out; false where it is too short or not `sane`, which is counted.
template <class Payload>
bool take(const Record& record, Payload& payload, Findings& findings,
          bool (*sane)(const Payload&)) {
  if (record.get(payload) && sane(payload)) return true;
  ++findings.bad_values;
  return false;
}
template <class Payload>
bool take(const Record& record, Payload& payload, Findings& findings) {
  if (record.get(payload)) return true;
  ++findings.bad_values;
  return false;
}

// Cuts off a table's rows from `rows` on.
template <class Table>
void shorten(Table& table, size_t rows) {
  const auto cut = [&](auto& column) {
    if (column.size() > rows) column.resize(rows);
  };
  std::apply([&](auto&... column) { (cut(column), ...); }, table.columns());
}

// Adds rows [first, end) of a column after those of another.
template <class Value>
void append(const std::vector<Value>& from, size_t first, size_t end, std::vector<Value>& to) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
            from.begin() + static_cast<std::ptrdiff_t>(end));
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

}  // namespace llmprof::readers::collector_log
