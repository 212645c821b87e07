#pragma once

#include <cstddef>
#include <cstdint>

#include "tape.h"

// What libfake_cupti.so offers beside CUPTI's own functions, to the program that plays a tape.
//
// Its environment:
//   FAKE_CUPTI_ORACLE=FILE         one line for every record of GPU work, when its fate is known
//   FAKE_CUPTI_FAIL=NAME:CODE[:N]  comma-separated; NAME (subscribe, unsubscribe, enable_callback,
//                                  enable_domain, activity_enable, activity_disable,
//                                  register_callbacks, timestamp_callback, flush_all, flush_period,
//                                  finalize) returns CODE, from its N-th call on
//   FAKE_CUPTI_CORRELATIONS_AFTER=N  correlations count on from N; after 4,294,967,295 comes 1
//   FAKE_CUPTI_FLUSH_MS=N          CUPTI's own thread hands back what it has so often
//   FAKE_CUPTI_DROP=N              every N-th record is lost, and counted as CUPTI does
//   FAKE_CUPTI_VERSION=12          records of CUPTI 12 (from its header alone: never seen)
//   FAKE_CUPTI_LAUNCH_COST_NS=N    what recording one kernel holds up its launch
namespace llmprof::fake {

// The same tape may be played several times: each copy has correlations and graph nodes of its own.
inline constexpr unsigned kCopyNodeShift = 40;
inline constexpr unsigned kCopyGraphShift = 20;

struct Copy {
  uint32_t number = 0;
};

// What a record's correlation, node and graph become in a copy of the tape, where calls are counted
// on from `first`.
inline uint32_t shifted_correlation(const tape::Tape& tape, Copy copy, uint32_t first,
                                    uint32_t correlation) {
  if (correlation == 0) return 0;
  const uint64_t count = uint64_t{first} + correlation + uint64_t{copy.number} * tape.correlations;
  return static_cast<uint32_t>((count - 1) % UINT32_MAX + 1);
}
inline uint64_t shifted_node(Copy copy, uint64_t node) {
  return node == 0 ? 0 : node + (uint64_t{copy.number} << kCopyNodeShift);
}
inline uint32_t shifted_graph(Copy copy, uint32_t graph) {
  return graph == 0 ? 0 : graph + (copy.number << kCopyGraphShift);
}

}  // namespace llmprof::fake

extern "C" {
// Before the first item of a copy: GPU times of this one lie behind those of the copies before it.
void fake_cupti_begin(const llmprof::tape::Tape* tape, uint32_t copy);
// Does what CUPTI did at this item, on the calling thread: calls the subscriber, makes records.
void fake_cupti_play(const llmprof::tape::Tape* tape, size_t item, uint32_t copy);
// When the GPU has reached a time of the tape: CLOCK_MONOTONIC, ns.
int64_t fake_cupti_host_time(int64_t tape_time);
// When all work so far has ended: CLOCK_MONOTONIC, ns.
int64_t fake_cupti_busy_until();
// Records that no call on the tape launched.
void fake_cupti_end(const llmprof::tape::Tape* tape, uint32_t copy);
}
