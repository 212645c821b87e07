#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "readers/nsys_sqlite/schema.h"
#include "trace/builder.h"

namespace llmprof::readers {

// nsys packs machine, process (24 bits) and thread (24 bits) into one number.
inline constexpr uint64_t kNsysThreadMask = 0xFFFFFF;
inline uint64_t nsys_process_key(uint64_t global_id) { return global_id & ~kNsysThreadMask; }
inline uint64_t nsys_pid(uint64_t global_id) { return global_id >> 24U & kNsysThreadMask; }

trace::ProcessId nsys_process(trace::TraceBuilder& builder, uint64_t global_id);
trace::ThreadId nsys_thread(trace::TraceBuilder& builder, uint64_t global_tid);

// A column's value as an unsigned number; what does not fit is 0, "unknown" in every table of ours.
inline uint32_t nsys_unsigned(int64_t value) {
  return value > 0 && value <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(value)
                                                                    : 0;
}

struct NsysTimes {
  int64_t start = 0;
  int64_t end = 0;
};

// Of a row whose first two columns are its start and its end; none unless both are known and in
// order.
std::optional<NsysTimes> nsys_times(const RowValues& row);

// Where GPU work ran, as the export spells it.
struct NsysPlace {
  uint64_t process = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  friend bool operator==(const NsysPlace&, const NsysPlace&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(
        trace::hash_mix(trace::hash_mix(trace::hash_mix(0, process), device), context), stream);
  }
};

// Gives places ids of the trace. A process numbers its GPUs by itself (CUDA_VISIBLE_DEVICES), and
// TARGET_INFO_CUDA_DEVICE tells which GPU of the machine that is.
class NsysPlaces {
 public:
  NsysPlaces(const NsysSchema& schema, trace::TraceBuilder& builder);
  trace::QueueId queue(const NsysPlace& place);

 private:
  static uint64_t lone_process(const NsysSchema& schema);

  trace::TraceBuilder& builder_;
  uint64_t lone_process_;                                            // 0: not known
  std::map<std::pair<uint64_t, int64_t>, uint32_t> machine_device_;  // (pid, CUDA's number)
};

}  // namespace llmprof::readers
