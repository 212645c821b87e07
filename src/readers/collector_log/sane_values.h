#pragma once

#include "trace/tables.h"
#include "wire/cuda_records.h"

// What the fields of a record may hold. A record with anything else is damaged, or of a program
// that wrote nonsense, and is left out.
namespace llmprof::readers::collector_log {

inline bool is_time(int64_t time) { return time >= 0 && time < trace::kOpenEnd; }
inline bool is_interval(int64_t start, int64_t end) {
  return is_time(start) && is_time(end) && start <= end;
}

// Deeper nesting of ranges means damage.
inline constexpr uint32_t kDeepest = 1U << 16U;
// So far from both ends of time that a batch's kernels are times too.
inline constexpr Nanoseconds kLatestBase = trace::kOpenEnd - (int64_t{1} << 34U);

template <class Payload>
bool is_sane(const Payload&) {
  return true;
}
inline bool is_sane(const wire::RangePush& push) {
  return is_time(push.time) && push.depth < kDeepest;
}
inline bool is_sane(const wire::RangePop& pop) { return is_time(pop.time) && pop.depth < kDeepest; }
inline bool is_sane(const wire::RangeStart& start) { return is_time(start.time); }
inline bool is_sane(const wire::RangeEnd& end) { return is_time(end.time); }
inline bool is_sane(const wire::Mark& mark) { return is_time(mark.time); }
inline bool is_sane(const wire::Step& step) {
  return is_time(step.time) && step.kind >= wire::StepKind::prefill &&
         step.kind <= wire::StepKind::mixed;
}
inline bool is_sane(const wire::CpuOperator& call) { return is_interval(call.start, call.end); }
inline bool is_sane(const wire::Collective& call) { return is_interval(call.start, call.end); }

inline bool is_sane(const wire::Launch& launch) {
  return launch.start >= 0 && launch.start < trace::kOpenEnd - wire::kLongestLaunch;
}
inline bool is_sane(const wire::ApiCall& call) { return is_interval(call.start, call.end); }
inline bool is_sane(const wire::HostCall& call) {
  return call.start >= 0 && call.start < trace::kOpenEnd - UINT32_MAX &&
         call.kind >= wire::HostCallKind::kernel && call.kind <= wire::HostCallKind::driver_wait;
}

inline bool is_sane(const wire::GraphNodeCreated& made) { return made.node != 0; }
inline bool is_sane(const wire::GraphNodeCloned& made) {
  return made.node != 0 && made.original != 0 && made.node != made.original;
}
inline bool is_sane(const wire::KernelDefinition& definition) { return definition.key != 0; }
inline bool is_sane(const wire::MemoryDefinition& definition) {
  return definition.key != 0 && definition.kind <= 1;
}
inline bool is_sane(const wire::KernelBatch& batch) {
  return batch.base >= 0 && batch.base < kLatestBase;
}
inline bool is_sane(const wire::LongKernel& kernel) {
  return kernel.definition != 0 && is_interval(kernel.start, kernel.end);
}
inline bool is_sane(const wire::MemoryOperation& operation) {
  return operation.definition != 0 && is_interval(operation.start, operation.end);
}
inline bool is_sane(const wire::ReplayOverwritten& replay) { return replay.correlation != 0; }
inline bool is_sane(const wire::GraphReplay& replay) {
  return is_interval(replay.start, replay.end);
}

inline bool is_sane(const wire::CounterSet& set) { return set.set != 0; }
inline bool is_sane(const wire::CounterSample& sample) {
  return sample.set != 0 && is_interval(sample.start, sample.end);
}
inline bool is_sane(const wire::ShortCounterSample& sample) {
  return sample.set != 0 && sample.start >= 0 && sample.start < trace::kOpenEnd - UINT32_MAX;
}

inline bool is_sane(const wire::CudaSession& session) { return is_time(session.time); }
inline bool is_sane(const wire::Collection& change) {
  return is_time(change.time) && change.state >= wire::CollectionState::detached &&
         change.state <= wire::CollectionState::stood_down &&
         change.reason <= wire::CollectionReason::delay;
}
inline bool is_sane(const wire::Waiting& waiting) {
  return is_time(waiting.time) && waiting.what >= wire::WaitsFor::command &&
         waiting.what <= wire::WaitsFor::delay;
}
inline bool is_sane(const wire::CuptiDropped& dropped) { return is_time(dropped.time); }
inline bool is_sane(const wire::CountersOff& off) { return is_time(off.time); }
inline bool is_sane(const wire::CountersLost& lost) { return is_time(lost.time); }

}  // namespace llmprof::readers::collector_log
