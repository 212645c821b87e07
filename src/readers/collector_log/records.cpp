#include "readers/collector_log/records.h"

#include <algorithm>

namespace llmprof::collector_log {

bool Records::record_at(size_t place, Record& record) const {
  wire::RecordHeader header{};
  if (bytes_.size() - place < sizeof header) return false;
  std::memcpy(&header, bytes_.data() + place, sizeof header);
  if (header.type == wire::RecordType::none || header.size < sizeof header ||
      header.size % wire::kRecordAlignment != 0 || header.size > bytes_.size() - place) {
    return false;
  }
  const char* payload = bytes_.data() + place + sizeof header;
  if (header.checksum != wire::record_checksum(sequence_, header.type, header.size, payload)) {
    return false;
  }
  record = {header.type, {payload, header.size - sizeof header}};
  return true;
}

bool Records::is_zero_from(size_t place) const {
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(place);
  return std::all_of(from, bytes_.end(), [](char byte) { return byte == 0; });
}

bool Records::next(Record& record) {
  if (record_at(place_, record)) {
    place_ += sizeof(wire::RecordHeader) + record.payload.size();
    return true;
  }
  if (is_zero_from(place_)) return false;
  uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + place_, std::min(sizeof word, bytes_.size() - place_));
  for (size_t at = place_ + wire::kRecordAlignment; at < bytes_.size();
       at += wire::kRecordAlignment) {
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

}  // namespace llmprof::collector_log
