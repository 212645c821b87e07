#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "readers/collector_log/log_reading.h"

namespace llmprof::readers::collector_log {

static_assert(static_cast<uint32_t>(trace::MemoryAction::module_loaded) + 1 ==
              static_cast<uint32_t>(wire::MemoryAction::module_loaded));
static_assert(static_cast<uint32_t>(trace::MemoryReadingTable::Moment::end) + 1 ==
              static_cast<uint32_t>(wire::MemoryReadingMoment::end));
static_assert(trace::MemoryReadingTable::kUnknown == wire::kUnknownBytes);

// Allocations of GPU memory, and readings of it.
class MemoryRows : LogReading {
 public:
  explicit MemoryRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::MemoryEvent& event) {
    const auto action = static_cast<trace::MemoryAction>(static_cast<uint32_t>(event.action) - 1);
    // CUPTI's numbers of kinds are those of the trace.
    trace::add_row(events(), event.time, process_, builder_.device(event.device), action,
                   static_cast<trace::AllocationKind>(event.kind), event.address, event.bytes,
                   event.owner, event.pool_bytes, event.pool_used_bytes, event.context,
                   event.stream, event.correlation, event.library, event.name, trace::RangeRow());
  }
  // `range` is the innermost range open on the thread, none: no range was open.
  void add(const wire::AllocationCall& call, trace::RangeRow range) {
    ranges_.try_emplace(call.correlation, range);
  }
  void add(const wire::MemoryReading& reading) {
    const auto moment =
        static_cast<trace::MemoryReadingTable::Moment>(static_cast<uint32_t>(reading.moment) - 1);
    trace::add_row(builder_.trace().memory_readings, reading.time, process_,
                   builder_.device(reading.device), moment, reading.total_bytes, reading.free_bytes,
                   reading.used_bytes, reading.reserved_bytes, reading.own_bytes,
                   reading.other_bytes);
  }
  void add(const wire::CuptiMemory& buffers) {
    builder_.trace().profiler_memory.push_back({process_, buffers.buffer_bytes * buffers.buffers});
  }
  void add(const wire::MemoryCalls& /*calls*/) {
    builder_.trace().memory_by_calls.push_back(process_);
  }
  void add(const wire::MemoryOff& off) { off_.push_back(off); }

  // Resolves names and ranges: until then, libraries and names hold the log's own keys.
  void finish() {
    static constexpr const char* kLost = "GPU memory was not recorded; the reason was lost";
    trace::MemoryEventTable& all = events();
    for (size_t i = first_; i < all.size(); ++i) {
      all.library[i] = texts_.find(all.library[i].value);
      all.name[i] = texts_.find(all.name[i].value);
      if (!has_own_call(all, i)) continue;
      const auto range = ranges_.find(all.correlation[i]);
      if (range != ranges_.end()) all.range[i] = range->second;
    }
    for (const wire::MemoryOff& off : off_) {
      const trace::StringId reason = texts_.find(off.reason);
      findings_.notices.push_back({Severity::info, "collector_memory_off",
                                   reason.valid() ? std::string(texts_.text(reason)) : kLost});
    }
  }

 private:
  // The collector follows calls that take GPU memory or map it; other records have the correlation
  // of an earlier call.
  static bool has_own_call(const trace::MemoryEventTable& all, size_t row) {
    using trace::AllocationKind;
    using trace::MemoryAction;
    constexpr uint32_t kFirstByCalls = uint32_t{1} << 31U;  // without CUPTI, each has its own
    if (all.correlation[row] == 0) return false;
    if (all.correlation[row] >= kFirstByCalls) return true;
    if (all.action[row] != MemoryAction::allocation) return maps(all.action[row]);
    const AllocationKind kind = all.kind[row];
    return (kind == AllocationKind::device && all.owner[row] == 0) ||
           kind == AllocationKind::managed;
  }
  static bool maps(trace::MemoryAction action) {
    return action >= trace::MemoryAction::create && action <= trace::MemoryAction::retain_handle;
  }
  [[nodiscard]] trace::MemoryEventTable& events() const { return builder_.trace().memory_events; }

  size_t first_ = builder_.trace().memory_events.size();
  std::unordered_map<uint32_t, trace::RangeRow> ranges_;  // by correlation
  std::vector<wire::MemoryOff> off_;
};

}  // namespace llmprof::readers::collector_log
