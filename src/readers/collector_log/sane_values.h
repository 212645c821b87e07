#pragma once

#include "trace/tables.h"
#include "wire/cuda_records.h"

// Valid values of a record's fields. A record with any other value is damaged, or from a program
// that wrote nonsense, and is skipped.
namespace llmprof::readers::collector_log {

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
inline bool has_sane_rest(const wire::Collection& change) {
  return change.state >= wire::CollectionState::detached &&
         change.state <= wire::CollectionState::stood_down &&
         change.reason <= wire::CollectionReason::delay;
}
inline bool has_sane_rest(const wire::Waiting& waiting) {
  return waiting.what >= wire::WaitsFor::command && waiting.what <= wire::WaitsFor::delay;
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

}  // namespace llmprof::readers::collector_log
