// libfake_cupti.so: CUPTI as a subscriber sees it, played from a tape. fake_cupti.h describes what
// else it offers, and its environment variables.
#include "fake_cupti.h"

#include <cupti.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "activity_buffers.h"
#include "activity_fields.h"
#include "layout.h"
#include "oracle.h"
#include "planned_failures.h"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
};

namespace llmprof::fake {
namespace {

using tape::Tape;

// ---- The state of CUPTI in this process

constexpr size_t kMostCallbacks = 1024;
constexpr size_t kMostKinds = 128;
constexpr int64_t kSameClock = 1'000'000;  // ns: clocks that differ by less are one

struct State {
  std::mutex mutex;
  // Subscribers are never freed: as with the real CUPTI, a thread may still be entering the
  // callback of one that has unsubscribed.
  std::atomic<CUpti_Subscriber_st*> subscriber{nullptr};
  std::array<std::array<std::atomic<bool>, kMostCallbacks>, CUPTI_CB_DOMAIN_SIZE> wanted{};
  std::array<std::atomic<bool>, kMostKinds> kinds{};
  std::atomic<CUpti_TimestampCallbackFunc> clock{nullptr};
  ActivityBuffers buffers;
  // A graph that is replayed while CUPTI is attached and kernels are not recorded fails after CUPTI
  // is finalized: seen with CUPTI 13.0.
  std::atomic<bool> graphs_ran_untraced{false};
  std::atomic<bool> graphs_are_broken{false};
  // Added to times of the tape to get the subscriber's clock.
  int64_t offset = INT64_MIN;
  int64_t busy_until = INT64_MIN;
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

int64_t clock_ns(clockid_t clock) {
  constexpr int64_t kSecond = 1'000'000'000;
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Tapes are played on this clock until a subscriber registers its own, which is compared with it.
int64_t host_now() { return clock_ns(CLOCK_MONOTONIC); }

// A thread delayed between the two readings gets too small an offset, so the largest of several
// counts.
int64_t subscribers_offset() {
  constexpr int kReadings = 8;
  auto* const clock = state().clock.load();
  int64_t offset = INT64_MIN;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t theirs =
        clock != nullptr ? static_cast<int64_t>(clock()) : clock_ns(CLOCK_REALTIME);
    offset = std::max(offset, theirs - host_now());
    if (offset > -kSameClock && offset < kSameClock) return 0;
  }
  return offset;
}

int64_t subscribers_now() { return host_now() + subscribers_offset(); }

bool enabled(CUpti_ActivityKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kMostKinds && state().kinds[index];
}

long number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : 0;
}

uint32_t first_correlation() {
  static const auto first =
      static_cast<uint32_t>(number_from_environment("FAKE_CUPTI_CORRELATIONS_AFTER"));
  return first;
}

// ---- Records

bool is_kernel(const Fields& fields) {
  return fields.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
         fields.kind == CUPTI_ACTIVITY_KIND_KERNEL;
}

// If complete replays are recorded, their kernels are not.
bool is_recorded(const Fields& fields) {
  const bool in_graph = fields.node != 0 && enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (is_kernel(fields)) {
    return !in_graph &&
           (enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || enabled(CUPTI_ACTIVITY_KIND_KERNEL));
  }
  return !in_graph && enabled(fields.kind);
}

void hold_up(int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  const int64_t until = host_now() + nanoseconds;
  while (host_now() < until) {
  }
}

bool is_to_be_dropped() {
  static const long every = number_from_environment("FAKE_CUPTI_DROP");
  static std::atomic<long> records{0};
  return every > 0 && ++records % every == 0;
}

void settle(const void* record, const Fields& fields, bool recorded) {
  if (!recorded) {
    write_fate(Fate::off, record);
  } else if (is_to_be_dropped()) {
    state().buffers.drop(1);
    write_fate(Fate::dropped, record);
  } else {
    state().buffers.add(record, delivered_bytes(fields.kind), static_cast<int64_t>(fields.end),
                        subscribers_now());
  }
}

// One record of the tape, shifted to this copy and to the present time.
class PlayedRecord {
 public:
  PlayedRecord(const Tape& tape, const tape::Item& item, Copy copy, int64_t offset) {
    const auto head = item.as<tape::Activity>();
    std::memcpy(bytes_, item.tail<tape::Activity>(),
                head.record_bytes < sizeof bytes_ ? head.record_bytes : sizeof bytes_);
    with_record(bytes_, [&](auto& record) {
      const auto shift = [offset](uint64_t time) {
        return time == 0 ? 0 : static_cast<uint64_t>(static_cast<int64_t>(time) + offset);
      };
      if constexpr (requires { record.start; }) {
        record.start = shift(record.start);
        record.end = shift(record.end);
      }
      if constexpr (requires { record.timestamp; }) record.timestamp = shift(record.timestamp);
      if constexpr (requires { record.source; }) record.source = tape.text(head.name);
      record.correlationId =
          shifted_correlation(tape, copy, first_correlation(), record.correlationId);
      if constexpr (requires { record.graphId; })
        record.graphId = shifted_graph(copy, record.graphId);
      if constexpr (requires { record.graphNodeId; }) {
        record.graphNodeId = shifted_node(copy, record.graphNodeId);
      }
      if constexpr (requires { record.gridX; }) {
        record.name = tape.text(head.name);
        record.completed = shift(record.completed);
        record.queued = shift(record.queued);
        record.submitted = shift(record.submitted);
      }
      fields_ = fields_of(record);
    });
  }
  [[nodiscard]] const void* bytes() const { return bytes_; }
  [[nodiscard]] const Fields& fields() const { return fields_; }

 private:
  alignas(CUpti_ActivityKernel10) char bytes_[sizeof(CUpti_ActivityKernel10)] = {};
  Fields fields_;
};

// If the tape is played more slowly than it was recorded, GPU work shifts: none starts before its
// launch.
int64_t offset_after(int64_t launched_on_tape, int64_t launched_now) {
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  const int64_t offset = launched_now - launched_on_tape;
  if (offset > all.offset) all.offset = offset;
  return all.offset;
}

void work_until(uint64_t end) {
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  if (static_cast<int64_t>(end) > all.busy_until) all.busy_until = static_cast<int64_t>(end);
}

void follow_graph(const PlayedRecord& record) {
  State& all = state();
  if (all.graphs_are_broken) write_fate(Fate::broken, record.bytes());
  const bool traced =
      enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (all.subscriber.load() != nullptr && !traced) all.graphs_ran_untraced = true;
}

void launch(const Tape& tape, const std::vector<size_t>& records, Copy copy, int64_t offset) {
  static const long cost = number_from_environment("FAKE_CUPTI_LAUNCH_COST_NS");
  const int64_t clock = subscribers_offset();
  for (const size_t index : records) {
    const PlayedRecord record(tape, tape.items[index], copy, offset + clock);
    if (record.fields().kind == CUPTI_ACTIVITY_KIND_INVALID) continue;
    const bool recorded = is_recorded(record.fields());
    if (recorded && is_kernel(record.fields())) hold_up(cost);
    work_until(record.fields().end - static_cast<uint64_t>(clock));
    if (is_kernel(record.fields()) && record.fields().node != 0) follow_graph(record);
    settle(record.bytes(), record.fields(), recorded);
  }
}

// ---- Callbacks

void call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= kMostCallbacks) return;
  State& all = state();
  const CUpti_Subscriber_st* subscriber = all.subscriber;
  if (subscriber != nullptr && all.wanted[domain][cbid]) {
    subscriber->callback(subscriber->userdata, domain, cbid, data);
  }
}

template <class Handle>
Handle as_handle(uint64_t id) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers to their users
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(id));
}

// Calls that this thread is in: the driver's within the runtime's.
struct Frame {
  tape::Api api;
  uint64_t data = 0;  // what CUpti_CallbackData::correlationData points to
  int64_t entered = 0;
  int64_t entered_on_tape = 0;
};
thread_local std::vector<Frame> frames;

// `parameters` of a function that the player knows; null otherwise.
void call_api(const Tape& tape, const Frame& frame, uint64_t* own, CUpti_ApiCallbackSite site,
              Copy copy, const void* parameters = nullptr, int return_value = 0) {
  // As in cuGraphLaunch_params; parameters of other functions are not played.
  const struct {
    CUgraphExec graph;
    CUstream stream;
  } replay = {as_handle<CUgraphExec>(shifted_graph(copy, frame.api.graph_exec)), nullptr};
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = frame.api.graph_exec != 0 ? &replay : parameters;
  data.functionName = tape.text(frame.api.function);
  data.functionReturnValue = &return_value;
  data.symbolName = tape.text(frame.api.symbol);
  data.context = as_handle<CUcontext>(frame.api.context);
  data.contextUid = frame.api.context;
  data.correlationData = own;
  data.correlationId = shifted_correlation(tape, copy, first_correlation(), frame.api.correlation);
  call(static_cast<CUpti_CallbackDomain>(frame.api.domain), frame.api.cbid, &data);
}

void record_api(const Tape& tape, const Frame& frame, Copy copy) {
  const auto kind = frame.api.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                                    : CUPTI_ACTIVITY_KIND_DRIVER;
  if (!enabled(kind)) return;
  const int64_t clock = subscribers_offset();
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = frame.api.cbid;
  record.start = static_cast<uint64_t>(frame.entered + clock);
  record.end = static_cast<uint64_t>(host_now() + clock);
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  record.correlationId =
      shifted_correlation(tape, copy, first_correlation(), frame.api.correlation);
  settle(&record, fields_of(record), true);
}

// Calls use(parameters) with those of the function, as CUPTI gives them.
template <class Use>
void with_parameters(const tape::MemoryCall& of, const Use& use) {
  CUmemGenericAllocationHandle handle = of.handle;
  CUmemAllocationProp properties{};
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = static_cast<int>(of.device);
  switch (of.api.cbid) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemCreate: {
      const cuMemCreate_params parameters = {&handle, of.bytes, &properties, 0};
      return use(&parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemMap: {
      const cuMemMap_params parameters = {of.address, of.bytes, 0, handle, 0};
      return use(&parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemUnmap: {
      const cuMemUnmap_params parameters = {of.address, of.bytes};
      return use(&parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemRelease: {
      const cuMemRelease_params parameters = {handle};
      return use(&parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemRetainAllocationHandle: {
      const cuMemRetainAllocationHandle_params parameters = {&handle, nullptr};
      return use(&parameters);
    }
    default:
      return use(nullptr);
  }
}

void play_memory_call(const Tape& tape, size_t index, Copy copy) {
  const tape::Item& item = tape.items[index];
  const auto returned = item.as<tape::MemoryCall>();
  Frame frame{returned.api, 0, host_now(), item.head.time};
  if (!frames.empty() && frames.back().api.cbid == returned.api.cbid) {
    frame = frames.back();
    frames.pop_back();
  }
  const auto launched = tape.launched_at.find(index);
  if (launched != tape.launched_at.end()) {
    launch(tape, launched->second, copy, offset_after(frame.entered_on_tape, frame.entered));
  }
  with_parameters(returned, [&](const void* parameters) {
    call_api(tape, frame, &frame.data, CUPTI_API_EXIT, copy, parameters, returned.result);
  });
}

// The fake NVML reads the file.
void set_gpu_memory(uint64_t used) {
  static const int file = [] {
    constexpr int kMode = 0644;
    const char* path = std::getenv("FAKE_GPU_MEMORY");
    return path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  }();
  if (file >= 0 && pwrite(file, &used, sizeof used, 0) < 0) std::perror("FAKE_GPU_MEMORY");
}

void play_api(const Tape& tape, size_t index, Copy copy) {
  const tape::Item& item = tape.items[index];
  const auto api = item.as<tape::Api>();
  if (api.site == CUPTI_API_ENTER) {
    frames.push_back(Frame{api, 0, host_now(), item.head.time});
    // The data are in the frame, which nested calls may move.
    uint64_t data = 0;
    call_api(tape, Frame(frames.back()), &data, CUPTI_API_ENTER, copy);
    frames.back().data = data;
    // Its work, or that of the enclosing call, starts after the subscriber's own reading.
    frames.back().entered = host_now();
    offset_after(item.head.time, frames.back().entered);
    return;
  }
  // A tape may start within a call.
  Frame frame{api, 0, host_now(), item.head.time};
  if (!frames.empty() && frames.back().api.cbid == api.cbid) {
    frame = frames.back();
    frames.pop_back();
  }
  const auto launched = tape.launched_at.find(index);
  if (launched != tape.launched_at.end()) {
    launch(tape, launched->second, copy, offset_after(frame.entered_on_tape, frame.entered));
  }
  record_api(tape, frame, copy);
  call_api(tape, frame, &frame.data, CUPTI_API_EXIT, copy);
}

void play_resource(const tape::Item& item, Copy copy) {
  const auto resource = item.as<tape::Resource>();
  CUpti_GraphData graph{};
  graph.graph = as_handle<CUgraph>(shifted_graph(copy, resource.graph));
  graph.originalGraph = as_handle<CUgraph>(shifted_graph(copy, resource.original_graph));
  graph.node = as_handle<CUgraphNode>(shifted_node(copy, resource.node));
  graph.originalNode = as_handle<CUgraphNode>(shifted_node(copy, resource.original_node));
  graph.nodeType = static_cast<CUgraphNodeType>(resource.node_type);
  graph.graphExec = as_handle<CUgraphExec>(shifted_graph(copy, resource.graph_exec));
  CUpti_ResourceData data{};
  data.context = as_handle<CUcontext>(resource.context);
  const bool is_about_graph = resource.cbid >= CUPTI_CBID_RESOURCE_GRAPH_CREATED &&
                              resource.cbid <= CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  data.resourceDescriptor = is_about_graph ? &graph : nullptr;
  // Seen with CUDA 13: this callback has no data.
  const bool has_data = resource.cbid != CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
  call(CUPTI_CB_DOMAIN_RESOURCE, resource.cbid, has_data ? &data : nullptr);
}

template <class Id>
CUptiResult id_of(const void* handle, Id* id) {
  if (handle == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = static_cast<Id>(reinterpret_cast<uintptr_t>(handle));
  return CUPTI_SUCCESS;
}

void leave() {
  State& all = state();
  all.subscriber = nullptr;
  for (auto& domain : all.wanted) {
    for (auto& wanted : domain) wanted = false;
  }
}

const char* const kRuntimeNames[] = {
#include "runtime_names.inc"
};
const char* const kDriverNames[] = {
#include "driver_names.inc"
};

}  // namespace
}  // namespace llmprof::fake

// ---- Functions for the program that plays a tape

using namespace llmprof;
using namespace llmprof::fake;

void fake_cupti_begin(const tape::Tape* tape, uint32_t /*copy*/) {
  State& all = state();
  const int64_t now = host_now();
  const std::scoped_lock lock(all.mutex);
  const int64_t begin = now > all.busy_until ? now : all.busy_until;
  if (begin - tape->begin > all.offset) all.offset = begin - tape->begin;
}

void fake_cupti_play(const tape::Tape* tape, size_t item, uint32_t copy) {
  switch (tape->items[item].head.kind) {
    case tape::Kind::api:
      return play_api(*tape, item, Copy{copy});
    case tape::Kind::resource:
      return play_resource(tape->items[item], Copy{copy});
    case tape::Kind::memory_call:
      return play_memory_call(*tape, item, Copy{copy});
    case tape::Kind::gpu_memory:
      return set_gpu_memory(tape->items[item].as<tape::GpuMemory>().used);
    case tape::Kind::dropped:
      return state().buffers.drop(tape->items[item].as<tape::Dropped>().records);
    default:
      return;
  }
}

int64_t fake_cupti_host_time(int64_t tape_time) {
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  return tape_time + all.offset;
}

int64_t fake_cupti_busy_until() {
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  return all.busy_until;
}

void fake_cupti_end(const tape::Tape* tape, uint32_t copy) {
  launch(*tape, tape->orphans, Copy{copy}, offset_after(INT64_MAX, 0));
}

// ---- CUPTI

#define FAIL_IF_PLANNED(name) \
  if (const CUptiResult planned = planned_failure(name); planned != CUPTI_SUCCESS) return planned

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = played_version();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "CUPTI_ERROR_FAKED";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* time) {
  *time = static_cast<uint64_t>(subscribers_now());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSupportedDomains(size_t* count, CUpti_DomainTable* table) {
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                           CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE,
                                           CUPTI_CB_DOMAIN_STATE};
  *count = std::size(domains);
  *table = domains;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                          const char** name) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (!runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_ERROR_INVALID_PARAMETER;
  if (cbid == 0 || cbid >= (runtime ? std::size(kRuntimeNames) : std::size(kDriverNames))) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *name = runtime ? kRuntimeNames[cbid] : kDriverNames[cbid];
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* userdata) {
  FAIL_IF_PLANNED("subscribe");
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  if (all.subscriber.load() != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  static auto* const all_ever = new std::vector<CUpti_Subscriber_st*>;
  all_ever->push_back(new CUpti_Subscriber_st{callback, userdata});
  all.subscriber = all_ever->back();
  *subscriber = all_ever->back();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  FAIL_IF_PLANNED("unsubscribe");
  const std::scoped_lock lock(state().mutex);
  if (subscriber == nullptr || subscriber != state().subscriber)
    return CUPTI_ERROR_INVALID_PARAMETER;
  leave();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  FAIL_IF_PLANNED("enable_callback");
  if (subscriber == nullptr || subscriber != state().subscriber || domain >= CUPTI_CB_DOMAIN_SIZE ||
      cbid >= kMostCallbacks) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  state().wanted[domain][cbid] = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                       CUpti_CallbackDomain domain) {
  FAIL_IF_PLANNED("enable_domain");
  if (subscriber == nullptr || subscriber != state().subscriber || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  for (auto& wanted : state().wanted[domain]) wanted = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  FAIL_IF_PLANNED("activity_enable");
  static const long unknown = number_from_environment("FAKE_CUPTI_FAIL_KIND");
  if (static_cast<size_t>(kind) >= kMostKinds || static_cast<long>(kind) == unknown) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  state().kinds[kind] = true;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAIL_IF_PLANNED("activity_disable");
  if (static_cast<size_t>(kind) >= kMostKinds) return CUPTI_ERROR_INVALID_KIND;
  state().kinds[kind] = false;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed) {
  FAIL_IF_PLANNED("register_callbacks");
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  state().buffers.use(requested, completed);
  const long period = number_from_environment("FAKE_CUPTI_FLUSH_MS");
  if (period > 0) state().buffers.set_flush_period(static_cast<uint32_t>(period));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  FAIL_IF_PLANNED("timestamp_callback");
  state().clock = clock;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                                CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto size_at = [&](size_t at) {
    CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
    std::memcpy(&kind, buffer + at, sizeof kind);
    return delivered_bytes(kind);
  };
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer);
    at += size_at(at);
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (size_at(at) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                                       size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = state().buffers.take_dropped();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  FAIL_IF_PLANNED("flush_all");
  state().buffers.flush(subscribers_now(), (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time) {
  FAIL_IF_PLANNED("flush_period");
  state().buffers.set_flush_period(time);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute /*attribute*/, size_t* size,
                                               void* value) {
  return size != nullptr && value != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

// The defaults of CUPTI 13.
CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                               void* value) {
  constexpr size_t kBytes = 3'200'000;
  constexpr size_t kBuffers = 3;
  if (size == nullptr || value == nullptr || *size < sizeof kBytes) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const size_t number = attribute == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE ? kBytes : kBuffers;
  std::memcpy(value, &number, sizeof number);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t /*enable*/) {
  FAIL_IF_PLANNED("allocation_source");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext /*context*/, uint32_t* device) {
  *device = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableLatencyTimestamps(uint8_t /*enable*/) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void) {
  FAIL_IF_PLANNED("finalize");
  State& all = state();
  {
    const std::scoped_lock lock(all.mutex);
    leave();
    for (auto& kind : all.kinds) kind = false;
    all.clock = nullptr;
    if (all.graphs_ran_untraced) all.graphs_are_broken = true;
  }
  all.buffers.forget();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) { return id_of(node, id); }
CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec graph, uint32_t* id) {
  return id_of(graph, id);
}
CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t* id) { return id_of(graph, id); }

}  // extern "C"
