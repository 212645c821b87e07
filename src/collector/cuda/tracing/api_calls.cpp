#include "collector/cuda/tracing/api_calls.h"

#include <atomic>
#include <cstring>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_functions.h"
#include "collector/cuda/tracing/call_numbers.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/environment.h"
#include "collector/launches/host_calls.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

constexpr size_t kDriver = 0;
constexpr size_t kRuntime = 1;
constexpr size_t kApis = 2;
constexpr uint32_t kLargestShortCode = UINT8_MAX;

// A function's code in the log, assigned at its first call.
struct Function {
  std::atomic<uint32_t> code{0};
  std::atomic<uint32_t> named_in{0};  // the last log that has its name
  std::atomic<uint8_t> roles{0};      // FunctionRole
};
enum FunctionRole : uint8_t { kLaunches = 1, kLaunchesGraphs = 2, kAllocates = 4, kMaps = 8 };

// The CUDA calls of this process.
struct ApiCalls {
  Function functions[kApis][kMaxFunctions];
  std::atomic<uint32_t> last_code = 0;
  CallNumbers numbers;
  std::atomic<uint64_t> latest_launch = 0;
  // Calls may have been missed since the last one counted.
  std::atomic<bool> paused_before = true;
  std::atomic<uint32_t> window = 0;  // number of the current tracing window
};
constinit ApiCalls api;

size_t api_of(CUpti_CallbackDomain domain) {
  return domain == CUPTI_CB_DOMAIN_DRIVER_API ? kDriver : kRuntime;
}

// Whether the function has one of these roles.
bool has_role(CUpti_CallbackDomain domain, CUpti_CallbackId id, int roles) {
  return id < kMaxFunctions &&
         (api.functions[api_of(domain)][id].roles.load(std::memory_order_relaxed) & roles) != 0;
}

// Depth of runtime calls; driver calls inside them are part of them. A call entered in another
// tracing window does not count: its end may have been missed.
constinit thread_local uint32_t window_of_depth = 0;
constinit thread_local uint32_t runtime_depth = 0;

bool is_inner(CUpti_CallbackDomain domain, CUpti_ApiCallbackSite site) {
  if (const uint32_t now = api.window.load(std::memory_order_relaxed); window_of_depth != now) {
    window_of_depth = now;
    runtime_depth = 0;
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API) return runtime_depth > 0;
  if (site == CUPTI_API_ENTER) return runtime_depth++ > 0;
  if (runtime_depth > 0) --runtime_depth;
  return runtime_depth > 0;
}

// CUPTI's names include the version of the function: "cudaLaunchKernel_v7000".
wire::StringKey name_in_log(const char* function) {
  constexpr size_t kRoom = 128;
  char name[kRoom];
  size_t length = strnlen(function, kRoom - 1);
  std::memcpy(name, function, length);
  size_t end = length;
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  if (end < length && end >= 2 && name[end - 1] == 'v' && name[end - 2] == '_') length = end - 2;
  name[length] = '\0';
  return text_key(name);
}

uint32_t code_of(Function& function, const char* name) {
  const uint32_t log = current_log();
  uint32_t code = function.code.load(std::memory_order_relaxed);
  if (code != 0 && function.named_in.load(std::memory_order_acquire) == log) return code;
  if (code == 0) {
    const uint32_t fresh = api.last_code.fetch_add(1, std::memory_order_relaxed) + 1;
    if (function.code.compare_exchange_strong(code, fresh)) code = fresh;
  }
  // Two threads may write the same name at once: it is then defined twice.
  write_device_record(wire::RecordType::api_name, wire::ApiName{name_in_log(name), code});
  function.named_in.store(log, std::memory_order_release);
  return code;
}

// The first call of a window.
void count_on(uint32_t correlation) {
  if (!api.paused_before.load(std::memory_order_relaxed)) return;
  if (api.paused_before.exchange(false, std::memory_order_relaxed)) {
    api.numbers.note_after_pause(correlation);
  }
}

void record_call(ThreadState& thread, int64_t start, int64_t end, uint32_t correlation,
                 uint32_t code) {
  const int64_t duration = end - start;
  if (duration <= wire::kLongestLaunch && duration >= 0 && code <= kLargestShortCode) {
    const uint32_t packed = (code << wire::kLaunchDurationBits) | static_cast<uint32_t>(duration);
    record(thread, wire::RecordType::launch, wire::Launch{start, packed, correlation});
  } else {
    record(thread, wire::RecordType::api_call, wire::ApiCall{start, end, correlation, code});
  }
}

// Kinds of the driver's functions, by CUPTI's number; 0: not timed.
constinit HostCallKind kinds[kMaxFunctions] = {};

HostCallKind kind_of(const char* bare) {
  if (is_launch(bare)) return HostCallKind::driver_kernel;
  if (launches_graph(bare)) return HostCallKind::driver_graph;
  return waits(bare) ? HostCallKind::driver_wait : HostCallKind{};
}

// FNV-1a: the same function has the same number in every run.
uint64_t hash_of(const char* symbol) {
  uint64_t hash = 14695981039346656037ULL;
  for (; symbol != nullptr && *symbol != '\0'; ++symbol) {
    hash = (hash ^ static_cast<unsigned char>(*symbol)) * 1099511628211ULL;
  }
  return hash;
}

uint64_t handle_of(HostCallKind kind, const CUpti_CallbackData& call) {
  if (kind == HostCallKind::driver_kernel) return hash_of(call.symbolName);
  // The first parameter of every function that launches a graph.
  uintptr_t graph = 0;
  std::memcpy(&graph, call.functionParams, sizeof graph);
  return graph;
}

void CUPTIAPI on_driver_call(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= kMaxFunctions) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const HostCallKind kind = kinds[id];
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  if (kind == HostCallKind::driver_wait) {
    if (enters) {
      *call.correlationData = static_cast<uint64_t>(now_ns());
    } else if (*call.correlationData != 0) {
      note_wait(kind, static_cast<int64_t>(*call.correlationData));
    }
  } else if (enters) {
    note_launch(kind, handle_of(kind, call));
  }
}

}  // namespace

// The runtime's launches, copies and waits all go through the driver API (with the same correlation
// ID, seen with CUDA 13): one callback per call, whichever API the program uses.
CUptiResult enable_api_callbacks(CUpti_SubscriberHandle subscriber, bool every_call) {
  CUptiResult worst = CUPTI_SUCCESS;
  for_each_function(CUPTI_CB_DOMAIN_DRIVER_API, [&](uint32_t id, const char* bare) {
    Function& function = api.functions[kDriver][id];
    const int roles = (is_launch(bare) ? kLaunches : 0) |
                      (launches_graph(bare) ? kLaunchesGraphs : 0) |
                      (takes_memory(bare) ? kAllocates : 0) | (maps_memory(bare) ? kMaps : 0);
    note_memory_function(id, bare);
    function.roles.store(static_cast<uint8_t>(roles), std::memory_order_relaxed);
    if (every_call || (!is_of_interest(bare) && (roles & (kAllocates | kMaps)) == 0)) return;
    const CUptiResult result =
        cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (result != CUPTI_SUCCESS) worst = result;
  });
  if (!every_call) return worst;
  const CUptiResult driver = cupti().enable_domain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  const CUptiResult runtime = cupti().enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  return driver != CUPTI_SUCCESS ? driver : runtime;
}

CUptiResult enable_launch_callbacks(CUpti_SubscriberHandle subscriber, bool enable) {
  CUptiResult worst = CUPTI_SUCCESS;
  for (uint32_t id = 1; id < kMaxFunctions; ++id) {
    if (!has_role(CUPTI_CB_DOMAIN_DRIVER_API, id, kLaunches)) continue;
    const CUptiResult result =
        cupti().enable_callback(enable ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (result != CUPTI_SUCCESS) worst = result;
  }
  return worst;
}

void begin_window() {
  api.window.fetch_add(1, std::memory_order_relaxed);
  api.paused_before.store(true, std::memory_order_relaxed);
}

void api_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  const CUpti_CallbackData& data) {
  if (is_inner(domain, data.callbackSite)) return;
  if (data.callbackSite == CUPTI_API_ENTER) {
    count_on(data.correlationId);
    *data.correlationData = static_cast<uint64_t>(now_ns());
    return;
  }
  const int64_t end = now_ns();
  const auto start = static_cast<int64_t>(*data.correlationData);
  if (start == 0 || id >= kMaxFunctions) return;  // entered before the callback was enabled
  const Call call;
  if (!call || !recording()) return;
  note_api_call(domain, id, data);
  Function& function = api.functions[api_of(domain)][id];
  record_call(call.thread(), start, end, correlation_in_log(data.correlationId),
              code_of(function, data.functionName));
}

void note_api_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   const CUpti_CallbackData& data) {
  if (id >= kMaxFunctions) return;
  if (has_role(domain, id, kLaunches | kLaunchesGraphs)) {
    CallNumbers::raise(api.latest_launch, api.numbers.number_of(data.correlationId));
  }
  api.numbers.note(data.correlationId);
}

bool is_graph_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return has_role(domain, id, kLaunchesGraphs);
}

bool is_allocation(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return has_role(domain, id, kAllocates);
}

bool is_of_memory(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return domain == CUPTI_CB_DOMAIN_DRIVER_API && has_role(domain, id, kAllocates | kMaps);
}

uint64_t last_launch() { return api.latest_launch.load(std::memory_order_relaxed); }
uint64_t last_call() { return api.numbers.latest(); }
void calls_may_start_over() { api.numbers.may_start_over(); }
uint32_t correlation_in_log(uint32_t correlation) {
  return static_cast<uint32_t>(api.numbers.number_of(correlation));
}
uint64_t call_number(uint32_t correlation) { return api.numbers.number_of(correlation); }

void time_driver_calls() {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (!load_cupti() || cupti().subscribe(&subscriber, on_driver_call, nullptr) != CUPTI_SUCCESS) {
    write_warning("CUPTI is missing, or another tool uses it: launches are not noted");
    return;
  }
  for_each_function(CUPTI_CB_DOMAIN_DRIVER_API, [&](uint32_t id, const char* bare) {
    kinds[id] = kind_of(bare);
    if (kinds[id] != HostCallKind{}) {
      cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
  });
}

}  // namespace llmprof::collector
