#include "collector/cuda/control/collection.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "collector/clock.h"
#include "collector/complaint.h"
#include "collector/cuda/control/alarms.h"
#include "collector/cuda/cupti/cupti_functions.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/cupti/rival_tools.h"
#include "collector/cuda/driver/driver_facts.h"
#include "collector/cuda/tracing/activity_buffers.h"
#include "collector/cuda/tracing/allocations.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/graph_replays.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/device_records.h"

namespace llmprof::collector {
namespace {

constexpr CUpti_ActivityKind kActivities[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET};
// Kernels that were launched while tracing and have not ended by then are given up.
constexpr int64_t kLongestWait = 2'000'000'000;
// How much longer work may take that was launched before the last kernel, on other streams. What
// has not ended by then is counted as dropped.
constexpr int64_t kStragglers = 10'000'000;
// CUPTI goes best at the end of one of the program's CUDA calls. A program that makes none for so
// long is not in CUDA, and then any moment is as good.
constexpr int64_t kPatience = 500'000'000;

constinit std::atomic<CollectionState> state = CollectionState::detached;
constinit std::atomic<uint64_t> steps = 0;
constinit std::atomic<int64_t> spent = 0;

// Guarded by it: everything below, and the calls that change CUPTI's state.
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit CUpti_SubscriberHandle subscriber = nullptr;
constinit bool attached = false;
constinit bool every_call = false;
constinit bool launch_callbacks = false;

// A detach waits for the kernels that were launched while tracing. Meanwhile CUPTI goes on, and
// what was launched later is not recorded: were kernels switched off instead, a graph that is
// replayed then would fail with its first replay after CUPTI was finalised (CUPTI 13.0,
// docs/collector.md).
constinit std::atomic<int64_t> detaching_since = 0;
constinit std::atomic<uint64_t> last_wanted = 0;  // its call's number
constinit std::atomic<int64_t> last_wanted_seen = 0;
constinit CollectionReason detaching_reason = CollectionReason::none;
constinit std::atomic<bool> activities_off = true;
// All are in: the next CUDA call of the program may end it.
constinit std::atomic<bool> detach_now = false;
// Of a thread that samples and one that ends CUPTI each writes its own flag and then reads the
// other's: in one order for both, so that one of them sees it.
constinit std::atomic<bool> sampling = false;
constinit std::atomic<bool> standing_down = false;
// A graph was replayed while kernels were switched off: CUPTI can never be finalised.
constinit std::atomic<bool> graphs_ran_paused = false;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

uint64_t CUPTIAPI log_clock() { return static_cast<uint64_t>(now_ns()); }

void write_state(CollectionState now, CollectionReason reason, int64_t began, uint32_t result = 0) {
  const int64_t time = now_ns();
  const int64_t cost = time - began;
  spent.fetch_add(cost, std::memory_order_relaxed);
  state.store(now, std::memory_order_release);
  const auto capped = static_cast<uint32_t>(cost < UINT32_MAX ? cost : UINT32_MAX);
  write_device_record(
      wire::RecordType::collection,
      wire::Collection{time, now, reason, steps.load(std::memory_order_relaxed), capped, result});
}

void detach(CollectionReason reason);

void graph_is_replayed(bool tracing, const CUpti_CallbackData& launch) {
  if (tracing) return note_traced_replay(launch);
  if (!activities_off.load(std::memory_order_relaxed)) return note_replay_between(launch);
  note_untraced_replay(launch);
  graphs_ran_paused.store(true, std::memory_order_relaxed);
}

void follow_call(bool tracing, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const CUpti_CallbackData& call) {
  if (tracing) return api_callback(domain, id, call);
  if (!activities_off.load(std::memory_order_relaxed)) note_api_call(domain, id, call);
}

void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    return resource_callback(id, static_cast<const CUpti_ResourceData*>(data));
  }
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const bool tracing = state.load(std::memory_order_relaxed) == CollectionState::tracing;
  const bool allocates = is_allocation(domain, id);
  if (allocates) note_allocation();
  if (!allocates || every_call) follow_call(tracing, domain, id, call);
  if (call.callbackSite == CUPTI_API_ENTER && is_graph_launch(domain, id)) {
    graph_is_replayed(tracing, call);
  }
  if (detach_now.load(std::memory_order_relaxed) && call.callbackSite == CUPTI_API_EXIT &&
      pthread_mutex_trylock(&lock) == 0) {
    if (detach_now.exchange(false)) detach(detaching_reason);
    pthread_mutex_unlock(&lock);
  }
}

void disable_activities() {
  activities_off.store(true, std::memory_order_relaxed);
  for (const CUpti_ActivityKind kind : kActivities) cupti().activity_disable(kind);
}

// Unsubscribing alone leaves kernels in graphs slower (docs/measurements.md).
void leave_cupti() {
  if (!attached) return;
  attached = false;
  launch_callbacks = false;
  if (graphs_ran_paused.load(std::memory_order_relaxed)) {
    disable_activities();
    cupti().unsubscribe(subscriber);
  } else {
    cupti().finalize();
  }
  activities_off.store(true, std::memory_order_relaxed);
  subscriber = nullptr;
}

void stood_down(CollectionReason reason, uint32_t result, int64_t began) {
  if (attached) cupti().flush_all(1);  // what earlier windows traced
  leave_cupti();
  write_state(CollectionState::stood_down, reason, began, result);
  if (reason == CollectionReason::other_subscriber) {
    complain("another tool uses CUPTI (nsys, ncu, torch.profiler): kernels are not recorded");
  } else if (reason == CollectionReason::cupti_missing) {
    complain("libcupti was not found: kernels are not recorded; name it in LLMPROF_CUPTI");
  } else {
    complain("CUPTI failed: kernels are not recorded; the log has its result code");
  }
}

// CUPTI's answer to the first step that fails.
CUptiResult enter_cupti() {
  const CuptiFunctions& functions = cupti();
  if (const auto result = functions.subscribe(&subscriber, on_callback, nullptr);
      result != CUPTI_SUCCESS) {
    return result;
  }
  attached = true;
  if (const auto result = functions.register_timestamps(log_clock); result != CUPTI_SUCCESS) {
    return result;
  }
  if (const auto result = functions.register_buffers(give_buffer, take_buffer);
      result != CUPTI_SUCCESS) {
    return result;
  }
  if (const auto result = enable_resource_callbacks(subscriber); result != CUPTI_SUCCESS) {
    return result;
  }
  const CUptiResult result = enable_api_callbacks(subscriber, every_call);
  launch_callbacks = true;
  watch_for_rivals([] { stand_down(CollectionReason::other_subscriber, 0); });
  return result;
}

bool is_other_subscriber(CUptiResult result) {
  return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
         result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

bool attach(int64_t began) {
  if (attached) return true;
  if (!load_cupti()) {
    stood_down(CollectionReason::cupti_missing, 0, began);
    return false;
  }
  const CUptiResult result = enter_cupti();
  if (result == CUPTI_SUCCESS) return true;
  stood_down(is_other_subscriber(result) ? CollectionReason::other_subscriber
                                         : CollectionReason::cupti_failed,
             result, began);
  return false;
}

CUptiResult enable_activities() {
  activities_off.store(false, std::memory_order_relaxed);
  for (const CUpti_ActivityKind kind : kActivities) {
    if (const auto result = cupti().activity_enable(kind); result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

void set_launch_callbacks(bool wanted) {
  if (launch_callbacks == wanted) return;
  launch_callbacks = wanted;
  enable_launch_callbacks(subscriber, wanted);
}

void switch_off() {
  disable_activities();
  set_launch_callbacks(false);
}

bool refuses() { return state.load(std::memory_order_relaxed) == CollectionState::stood_down; }

void wait_for_sampling_to_end() {
  constexpr int kTurns = 500;
  constexpr useconds_t kTurn = 1000;
  for (int turn = 0; turn < kTurns && sampling.load(); ++turn) {
    usleep(kTurn);
  }
}

void forget_detaching() {
  detaching_since.store(0, std::memory_order_relaxed);
  last_wanted_seen.store(0, std::memory_order_relaxed);
  detach_now.store(false, std::memory_order_relaxed);
}

void detach(CollectionReason reason) {
  const int64_t began = now_ns();
  cupti().flush_all(1);
  leave_cupti();
  write_state(CollectionState::detached, reason, began);
  // Until here nobody may begin to sample.
  forget_detaching();
}

}  // namespace

void begin_collection(bool record_every_call) { every_call = record_every_call; }

CollectionState collection_state() { return state.load(std::memory_order_acquire); }

bool is_recording() {
  const CollectionState now = collection_state();
  return now == CollectionState::tracing || now == CollectionState::paused;
}

bool start_tracing(CollectionReason reason) {
  const int64_t began = now_ns();
  const Locked locked;
  if (refuses()) return false;
  forget_detaching();
  if (state.load(std::memory_order_relaxed) == CollectionState::tracing) return true;
  if (!attach(began)) return false;
  set_launch_callbacks(true);
  if (const auto result = enable_activities(); result != CUPTI_SUCCESS) {
    stood_down(CollectionReason::cupti_failed, result, began);
    return false;
  }
  begin_window();
  traced_windows().open(last_call());
  write_state(CollectionState::tracing, reason, began);
  return true;
}

bool pause_tracing(CollectionReason reason) {
  const int64_t began = now_ns();
  const Locked locked;
  if (state.load(std::memory_order_relaxed) != CollectionState::tracing) return false;
  traced_windows().close(last_call());
  const bool later = graphs_were_traced();
  if (!later) switch_off();
  write_state(CollectionState::paused, reason, began);
  return later;
}

void rest_tracing() {
  const int64_t began = now_ns();
  const Locked locked;
  if (state.load(std::memory_order_relaxed) != CollectionState::paused) return;
  switch_off();
  spent.fetch_add(now_ns() - began, std::memory_order_relaxed);
}

void stop_tracing(CollectionReason reason) {
  const int64_t began = now_ns();
  const Locked locked;
  if (!attached || refuses()) return;
  last_wanted.store(last_launch(), std::memory_order_relaxed);
  if (state.load(std::memory_order_relaxed) == CollectionState::tracing) {
    traced_windows().close(last_call());
    write_state(CollectionState::paused, reason, began);
  }
  detaching_reason = reason;
  detaching_since.store(now_ns());
  wake_collector();
}

void stand_down(CollectionReason reason, uint32_t result) {
  const int64_t began = now_ns();
  standing_down.store(true);
  wake_collector();
  wait_for_sampling_to_end();
  const Locked locked;
  if (refuses()) return;
  if (attached) {
    // CUPTI must not hold one of our buffers when another takes over.
    synchronise_context();
    cupti().flush_all(1);
  }
  forget_detaching();
  stood_down(reason, result, began);
}

void note_step(uint64_t step) { steps.store(step, std::memory_order_relaxed); }

int64_t time_spent_on_changes() { return spent.load(std::memory_order_relaxed); }

void hand_over_records() {
  if (!is_recording()) return;
  // Not while the program attaches or detaches; it flushes then itself.
  if (pthread_mutex_trylock(&lock) != 0) return;
  if (attached) cupti().flush_all(0);
  pthread_mutex_unlock(&lock);
}

bool is_detaching() { return detaching_since.load() != 0; }

bool may_sample() { return is_recording() && !is_detaching() && !standing_down.load(); }

void note_sampling(bool now) { sampling.store(now); }

void finish_detaching() {
  const int64_t since = detaching_since.load();
  if (since == 0 || sampling.load()) return;
  const int64_t now = now_ns();
  const int64_t waited = now - since;
  const bool seen = last_finished() >= last_wanted.load(std::memory_order_relaxed);
  if (seen && last_wanted_seen.load(std::memory_order_relaxed) == 0) {
    last_wanted_seen.store(now, std::memory_order_relaxed);
  }
  const bool all_in = seen && now - last_wanted_seen.load(std::memory_order_relaxed) >= kStragglers;
  if (!all_in && waited < kLongestWait) return;
  detach_now.store(true, std::memory_order_release);
  if (waited < kPatience) return;
  const Locked locked;
  if (detach_now.exchange(false)) detach(detaching_reason);
}

void end_collection() {
  const int64_t began = now_ns();
  if (pthread_mutex_trylock(&lock) != 0) return;
  if (attached) {
    // Those that have not ended yet come without an end: better than none.
    cupti().flush_all(1);
    write_state(CollectionState::detached, CollectionReason::process_end, began);
  }
  pthread_mutex_unlock(&lock);
}

}  // namespace llmprof::collector
