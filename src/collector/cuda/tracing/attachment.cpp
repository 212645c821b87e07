#include "collector/cuda/tracing/attachment.h"

#include <cstdint>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constexpr CUpti_ActivityKind kActivities[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET};

uint64_t CUPTIAPI log_timestamp() { return static_cast<uint64_t>(now_ns()); }

}  // namespace

CUptiResult Attachment::attach(CUpti_CallbackFunc callback, void (*give_way)()) {
  CUptiResult result = cupti().subscribe(&subscriber_, callback, nullptr);
  if (result != CUPTI_SUCCESS) return result;
  attached_ = true;
  result = cupti().register_timestamps(log_timestamp);
  if (result == CUPTI_SUCCESS) result = cupti().register_buffers(give_buffer, take_buffer);
  if (result == CUPTI_SUCCESS) result = enable_resource_callbacks(subscriber_);
  if (result != CUPTI_SUCCESS) return result;
  result = enable_api_callbacks(subscriber_, every_call_);
  launch_callbacks_ = true;
  watch_for_rivals(give_way);
  return result;
}

// After unsubscribing, kernels in graphs stay slower (docs/measurements.md), so CUPTI is finalized
// whenever that is possible.
void Attachment::leave() {
  if (!attached_) return;
  attached_ = false;
  launch_callbacks_ = false;
  if (unrecorded_replay_.load(std::memory_order_relaxed)) {
    disable_activities();
    cupti().unsubscribe(subscriber_);
  } else {
    cupti().finalize();
    calls_may_start_over();
  }
  records_.store(false, std::memory_order_relaxed);
  subscriber_ = nullptr;
}

CUptiResult Attachment::switch_on() {
  set_launch_callbacks(true);
  records_.store(true, std::memory_order_relaxed);
  for (const CUpti_ActivityKind kind : kActivities) {
    if (const auto result = cupti().activity_enable(kind); result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

void Attachment::switch_off() {
  disable_activities();
  set_launch_callbacks(false);
}

void Attachment::disable_activities() {
  records_.store(false, std::memory_order_relaxed);
  for (const CUpti_ActivityKind kind : kActivities) cupti().activity_disable(kind);
}

void Attachment::set_launch_callbacks(bool wanted) {
  if (launch_callbacks_ == wanted) return;
  launch_callbacks_ = wanted;
  enable_launch_callbacks(subscriber_, wanted);
}

void Attachment::flush() const {
  if (attached_) cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void Attachment::hand_over() const {
  if (attached_) cupti().flush_all(0);
}

}  // namespace llmprof::collector
