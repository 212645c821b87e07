#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"

namespace llmprof::collector {

// CUPTI in this process: whether it is attached, and whether it records GPU work. One thread at a
// time changes it; any thread may query it, above all in CUPTI callbacks.
class Attachment {
 public:
  // Before the first attach: enables callbacks of all CUDA functions, not only those that launch,
  // copy or wait.
  void set_every_call(bool every_call) { every_call_ = every_call; }
  // Before the first attach: also records allocations, as long as CUPTI is attached.
  void set_memory(bool memory) { memory_ = memory; }
  [[nodiscard]] bool every_call() const { return every_call_; }

  [[nodiscard]] bool is_attached() const { return attached_; }

  // Returns the result of the first step that fails, if any; then leave() must follow. `give_way`
  // is called when another tool in the process asks for CUPTI.
  CUptiResult attach(CUpti_CallbackFunc callback, void (*give_way)()) {
    CUptiResult result = cupti().subscribe(&subscriber_, callback, nullptr);
    if (result != CUPTI_SUCCESS) return result;
    attached_ = true;
    result = cupti().register_timestamps(log_timestamp);
    if (result == CUPTI_SUCCESS) result = cupti().register_buffers(give_buffer, take_buffer);
    if (result == CUPTI_SUCCESS) result = enable_resource_callbacks(subscriber_);
    if (result != CUPTI_SUCCESS) return result;
    result = enable_api_callbacks(subscriber_, every_call_);
    launch_callbacks_ = true;
    if (memory_ && result == CUPTI_SUCCESS) enable_memory_records();
    watch_for_rivals(give_way);
    return result;
  }

  // After unsubscribing, kernels in graphs stay slower (docs/measurements.md), so CUPTI is
  // finalized whenever that is possible.
  void leave() {
    if (!attached_) return;
    attached_ = false;
    launch_callbacks_ = false;
    note_memory_records_ended();
    if (unrecorded_replay_.load(std::memory_order_relaxed)) {
      disable_activities();
      if (memory_) disable_memory_records();
      cupti().unsubscribe(subscriber_);
    } else {
      cupti().finalize();
      calls_may_start_over();
    }
    records_.store(false, std::memory_order_relaxed);
    subscriber_ = nullptr;
  }

  // Kernels, memory operations and launch callbacks.
  CUptiResult switch_on() {
    set_launch_callbacks(true);
    records_.store(true, std::memory_order_relaxed);
    for (const CUpti_ActivityKind kind : kActivities) {
      if (const auto result = cupti().activity_enable(kind); result != CUPTI_SUCCESS) return result;
    }
    return CUPTI_SUCCESS;
  }

  void switch_off() {
    disable_activities();
    set_launch_callbacks(false);
  }
  [[nodiscard]] bool records() const { return records_.load(std::memory_order_relaxed); }

  void flush() const {
    if (attached_) cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  // Hands over completed records without waiting for the rest.
  void hand_over() const {
    if (attached_) cupti().flush_all(0);
  }

  // A graph was replayed while records were off: CUPTI can then never be finalized
  // (docs/collector.md).
  void note_unrecorded_replay() { unrecorded_replay_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr CUpti_ActivityKind kActivities[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
      CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};

  static uint64_t CUPTIAPI log_timestamp() { return static_cast<uint64_t>(now_ns()); }

  void disable_activities() {
    records_.store(false, std::memory_order_relaxed);
    for (const CUpti_ActivityKind kind : kActivities) cupti().activity_disable(kind);
  }
  void set_launch_callbacks(bool wanted) {
    if (launch_callbacks_ == wanted) return;
    launch_callbacks_ = wanted;
    enable_launch_callbacks(subscriber_, wanted);
  }

  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool attached_ = false;
  bool every_call_ = false;
  bool memory_ = false;
  bool launch_callbacks_ = false;
  std::atomic<bool> records_ = false;
  std::atomic<bool> unrecorded_replay_ = false;
};

}  // namespace llmprof::collector
