#pragma once

#include <cstddef>
#include <cstdint>

#include "tape.h"

// Functions of libfake_cupti.so, in addition to CUPTI's, for the program that plays a tape.
//
// Its environment:
//   FAKE_CUPTI_ORACLE=FILE         one line for every record of GPU work, when its fate is known
//   FAKE_CUPTI_FAIL=NAME:CODE[:N]  comma-separated; NAME (subscribe, unsubscribe, enable_callback,
//                                  enable_domain, activity_enable, activity_disable,
//                                  allocation_source, register_callbacks, timestamp_callback,
//                                  flush_all, flush_period, finalize) returns CODE, from the N-th
//                                  call
//   FAKE_CUPTI_CORRELATIONS_AFTER=N  correlations start after N; after 4,294,967,295 comes 1
//   FAKE_CUPTI_FLUSH_MS=N          CUPTI's own thread hands back its records every N ms
//   FAKE_CUPTI_DROP=N              every N-th record is lost, and counted as CUPTI does
//   FAKE_CUPTI_VERSION=12          records of CUPTI 12 (only from its header: never seen)
//   FAKE_CUPTI_LAUNCH_COST_NS=N    delay of each launch whose kernel is recorded
//   FAKE_CUPTI_FAIL_KIND=N         records of this kind cannot be enabled
//   FAKE_GPU_MEMORY=FILE           what is used of the GPU's memory, for the fake NVML
namespace llmprof::fake {

// A tape may be played several times: each copy has its own correlations and graph nodes.
inline constexpr unsigned kCopyNodeShift = 40;
inline constexpr unsigned kCopyGraphShift = 20;

struct Copy {
  uint32_t number = 0;
};

// A record's correlation, node and graph in a copy of the tape; calls are counted from `first`.
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
// Call before the first item of a copy: its GPU times follow those of the previous copies.
void fake_cupti_begin(const llmprof::tape::Tape* tape, uint32_t copy);
// Plays one item as CUPTI on the calling thread: calls the subscriber, makes records.
void fake_cupti_play(const llmprof::tape::Tape* tape, size_t item, uint32_t copy);
// When the GPU reaches a time of the tape: CLOCK_MONOTONIC, ns.
int64_t fake_cupti_host_time(int64_t tape_time);
// When all work launched so far has ended: CLOCK_MONOTONIC, ns.
int64_t fake_cupti_busy_until();
// Makes the records that no call on the tape launched.
void fake_cupti_end(const llmprof::tape::Tape* tape, uint32_t copy);
}
