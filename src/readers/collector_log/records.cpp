#include "readers/collector_log/records.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::readers::collector_log {
namespace {

// Without a limit, the time for a chunk full of false headers would grow with the square of its
// size.
constexpr size_t kMostTimesSearched = 64;

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
