#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exports/exports.h"
#include "trace/api_kind.h"
#include "trace/trace.h"

namespace llmprof::exports {

// How viewers show calls: Perfetto's category, and how the page draws them.
enum class CallKind : uint8_t { other, launch, synchronization, copy };
struct CallGroup {
  std::string_view category;
  CallKind kind;
};
inline constexpr std::array<CallGroup, 9> kCallGroups = {{
    {"API call", CallKind::other},
    {"launch", CallKind::launch},
    {"graph launch", CallKind::launch},
    {"synchronization", CallKind::synchronization},
    {"copy", CallKind::copy},
    {"copy", CallKind::copy},  // blocking
    {"allocation", CallKind::other},
    {"graph capture", CallKind::other},  // its start
    {"graph capture", CallKind::other},  // its end
}};
static_assert(kCallGroups.size() == static_cast<size_t>(trace::ApiKind::capture_end) + 1);
constexpr const CallGroup& call_group(trace::ApiKind kind) {
  return kCallGroups[static_cast<size_t>(kind)];
}

// Texts that a file refers to by number, each stored once.
class Names {
 public:
  uint32_t add(std::string_view text) {
    const auto [known, is_new] =
        known_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.emplace_back(text);
    return known->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> known_;
};

// A layer of one pass: from its first kernel's start to its last one's end.
struct LayerSpan {
  uint64_t pass = 0;
  analysis::LayerRowId layer;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};
std::map<trace::DeviceId, std::vector<LayerSpan>> layer_spans(const ExportSource& source);

// Calls visit(first, end) for the samples of each counter of each device: rows of Trace::counters.
template <class Visit>
void each_counter(const trace::CounterTable& counters, const Visit& visit) {
  for (size_t first = 0, row = 0; first < counters.size(); first = row) {
    while (row < counters.size() && counters.device[row] == counters.device[first] &&
           counters.metric[row] == counters.metric[first]) {
      ++row;
    }
    visit(first, row);
  }
}

// A sample's value holds from its start to its end, and falls to 0 if no other sample starts there;
// an instant reading holds until the next.
inline bool falls_to_zero(const trace::CounterTable& counters, size_t row, size_t end) {
  const bool followed = row + 1 < end && counters.start[row + 1] <= counters.end[row];
  return counters.end[row] > counters.start[row] && !followed;
}

}  // namespace llmprof::exports
