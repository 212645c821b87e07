// librecording_cupti.so is a proxy between the collector and the real libcupti, and between a
// program's NVTX calls and the collector. It writes all calls to a tape. If CUDA is in /usr/local:
//
//   g++ -std=c++20 -O2 -fPIC -shared -I/usr/local/cuda/include
//   -I/usr/local/cuda/extras/CUPTI/include
//       recording_cupti.cpp -o librecording_cupti.so -ldl
//
//   CUDA_INJECTION64_PATH=COLLECTOR  NVTX_INJECTION64_PATH=librecording_cupti.so
//   LLMPROF_COLLECTOR=COLLECTOR      LLMPROF_CUPTI=librecording_cupti.so  (all paths absolute)
//   LLMPROF_REAL_CUPTI=/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13
//   LLMPROF_TAPE=eager.tape          LLMPROF_LOG_DIR=FOLDER  LLMPROF_ARM=start
//
// Calls that neither launch GPU work nor wait for it are omitted, unless LLMPROF_TAPE_ALL=1. The
// collector gets the calls that it requested. The tape has more, for later collectors.
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "activity_fields.h"
#include "tape.h"

namespace llmprof {
namespace {

using namespace tape;

// ---- The real libcupti

void* real_library() {
  static void* const library = [] {
    const char* path = std::getenv("LLMPROF_REAL_CUPTI");
    void* found = dlopen(path != nullptr ? path : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr) std::fprintf(stderr, "recording_cupti: %s\n", dlerror());
    return found;
  }();
  return library;
}

template <class Function>
Function real(const char* name) {
  void* library = real_library();
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

// ---- The tape

// Never freed: threads may still call while the process ends.
struct Recorder {
  std::mutex mutex;
  Writer writer;
  uint16_t threads = 0;
  uint16_t last_thread = 0;
  uint32_t handles = 0;
  std::map<const void*, uint32_t> domains;
  std::map<const void*, std::pair<uint32_t, TextId>> strings;
  std::map<uint64_t, uint32_t> ranges;

  Recorder(const char* path, uint32_t version) : writer(path, version) {}
};

std::atomic<CUpti_TimestampCallbackFunc> clients_clock{nullptr};

uint32_t real_version() {
  uint32_t version = 0;
  if (auto* get = real<decltype(&cuptiGetVersion)>("cuptiGetVersion")) get(&version);
  return version;
}

Recorder& recorder() {
  static Recorder* const instance = [] {
    const char* path = std::getenv("LLMPROF_TAPE");
    auto* made = new Recorder(path != nullptr ? path : "cupti.tape", real_version());
    if (!made->writer.open()) std::fprintf(stderr, "recording_cupti: cannot write the tape\n");
    std::atexit([] {
      const std::scoped_lock lock(recorder().mutex);
      recorder().writer.flush();
    });
    return made;
  }();
  return *instance;
}

int64_t now() {
  if (auto* clock = clients_clock.load()) return static_cast<int64_t>(clock());
  uint64_t time = 0;
  if (auto* get = real<decltype(&cuptiGetTimestamp)>("cuptiGetTimestamp")) get(&time);
  return static_cast<int64_t>(time);
}

// The caller holds the mutex.
uint16_t this_thread(Recorder& to, int64_t time) {
  thread_local uint16_t number = 0;
  if (number == 0) {
    number = ++to.threads;
    if (number > 1) to.writer.put(Kind::thread_begin, to.last_thread, time, Thread{number, 0});
  }
  to.last_thread = number;
  return number;
}

template <class Payload>
void put(Recorder& to, Kind kind, const Payload& payload) {
  const int64_t time = now();
  to.writer.put(kind, this_thread(to, time), time, payload);
}

// ---- Callbacks

constexpr size_t kMostCallbacks = 2048;
std::atomic<bool> client_wants[CUPTI_CB_DOMAIN_SIZE][kMostCallbacks];
std::atomic<CUpti_CallbackFunc> client_callback{nullptr};
std::atomic<void*> client_userdata{nullptr};

bool belongs_on_the_tape(const char* function) {
  static const bool all = std::getenv("LLMPROF_TAPE_ALL") != nullptr;
  if (all || function == nullptr) return all;
  for (const char* part : {"Launch", "Memcpy", "Memset", "Synchronize", "Graph", "Capture"}) {
    if (std::strstr(function, part) != nullptr) return true;
  }
  return false;
}

// The graph is the first parameter of all functions that launch one.
uint32_t replayed_graph(const CUpti_CallbackData& data) {
  static auto* const exec_id = real<decltype(&cuptiGetGraphExecId)>("cuptiGetGraphExecId");
  uint32_t id = 0;
  if (data.functionName == nullptr || std::strstr(data.functionName, "GraphLaunch") == nullptr ||
      data.functionParams == nullptr || exec_id == nullptr) {
    return id;
  }
  auto* graph = *static_cast<CUgraphExec const*>(data.functionParams);
  if (graph != nullptr) exec_id(graph, &id);
  return id;
}

void record_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                const CUpti_CallbackData& data) {
  const bool wanted = cbid < kMostCallbacks && client_wants[domain][cbid];
  if (!wanted && !belongs_on_the_tape(data.functionName)) return;
  Recorder& to = recorder();
  const std::scoped_lock lock(to.mutex);
  Api api{};
  api.domain = domain;
  api.cbid = cbid;
  api.site = data.callbackSite;
  api.correlation = data.correlationId;
  api.context = data.contextUid;
  if (data.functionName != nullptr) api.function = to.writer.text(data.functionName);
  if (wanted && data.symbolName != nullptr) api.symbol = to.writer.text(data.symbolName);
  api.graph_exec = replayed_graph(data);
  // A call that waited for the GPU also waits when it is played.
  const bool is_wait = data.callbackSite == CUPTI_API_EXIT && data.functionName != nullptr &&
                       std::strstr(data.functionName, "Synchronize") != nullptr;
  if (is_wait) put(to, Kind::sleep, Thread{});
  put(to, Kind::api, api);
}

Resource graph_resource(const CUpti_GraphData& data) {
  static auto* const node_id = real<decltype(&cuptiGetGraphNodeId)>("cuptiGetGraphNodeId");
  static auto* const graph_id = real<decltype(&cuptiGetGraphId)>("cuptiGetGraphId");
  static auto* const exec_id = real<decltype(&cuptiGetGraphExecId)>("cuptiGetGraphExecId");
  Resource resource{};
  resource.node_type = static_cast<uint32_t>(data.nodeType);
  if (data.node != nullptr && node_id) node_id(data.node, &resource.node);
  if (data.originalNode != nullptr && node_id) node_id(data.originalNode, &resource.original_node);
  if (data.graph != nullptr && graph_id) graph_id(data.graph, &resource.graph);
  if (data.originalGraph != nullptr && graph_id) {
    graph_id(data.originalGraph, &resource.original_graph);
  }
  if (data.graphExec != nullptr && exec_id) exec_id(data.graphExec, &resource.graph_exec);
  return resource;
}

// The data of graph callbacks differ except for the handles: ids are read only from these three.
bool has_graph_ids(CUpti_CallbackId cbid) {
  return cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
         cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED ||
         cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
}

// On CUDA 13, `data` is null when cuInit has finished.
void record_resource(CUpti_CallbackId cbid, const CUpti_ResourceData* data) {
  const bool graph = has_graph_ids(cbid) && data != nullptr && data->resourceDescriptor != nullptr;
  if (!graph && cbid != CUPTI_CBID_RESOURCE_CONTEXT_CREATED &&
      cbid != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING &&
      cbid != CUPTI_CBID_RESOURCE_STREAM_CREATED && cbid != CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) {
    return;
  }
  Resource resource{};
  if (graph) resource = graph_resource(*static_cast<CUpti_GraphData*>(data->resourceDescriptor));
  resource.cbid = cbid;
  static auto* const context_id = real<decltype(&cuptiGetContextId)>("cuptiGetContextId");
  if (data != nullptr && data->context != nullptr && context_id) {
    context_id(data->context, &resource.context);
  }
  Recorder& to = recorder();
  const std::scoped_lock lock(to.mutex);
  put(to, Kind::resource, resource);
}

void CUPTIAPI on_callback(void* /*userdata*/, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                          const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    record_api(domain, cbid, *static_cast<const CUpti_CallbackData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    record_resource(cbid, static_cast<const CUpti_ResourceData*>(data));
  }
  CUpti_CallbackFunc client = client_callback;
  if (client != nullptr && cbid < kMostCallbacks && client_wants[domain][cbid]) {
    client(client_userdata, domain, cbid, data);
  }
}

// ---- Activity buffers

std::atomic<CUpti_BuffersCallbackRequestFunc> client_requested{nullptr};
std::atomic<CUpti_BuffersCallbackCompleteFunc> client_completed{nullptr};

void put_activity(Recorder& to, CUpti_Activity* from) {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::memcpy(&kind, from, sizeof kind);
  char copy[sizeof(CUpti_ActivityKernel10)];
  const size_t bytes = fake::record_bytes(kind);
  if (bytes == 0) return;
  std::memcpy(copy, from, bytes);
  Activity item{};
  int64_t start = 0;
  fake::with_record(copy, [&](auto& record) {
    if constexpr (requires { record.start; }) start = static_cast<int64_t>(record.start);
    if constexpr (requires { record.timestamp; }) start = static_cast<int64_t>(record.timestamp);
    item.correlation = record.correlationId;
    if constexpr (requires { record.gridX; }) {
      if (record.name != nullptr) item.name = to.writer.text(record.name);
      item.name_offset = offsetof(CUpti_ActivityKernel10, name);
      record.name = nullptr;
      record.pAccessPolicyWindow = nullptr;
    }
    if constexpr (requires { record.source; }) {  // an allocation, its variable and its library
      record.name = nullptr;
      record.source = nullptr;
    }
    if constexpr (requires { record.reserved0; }) record.reserved0 = nullptr;
    if constexpr (requires { record.reserved; }) record.reserved = nullptr;
  });
  item.record_bytes = static_cast<uint32_t>(bytes);
  to.writer.put(Kind::activity, 0, start, item, copy, bytes);
}

void CUPTIAPI on_requested(uint8_t** buffer, size_t* size, size_t* records) {
  client_requested.load()(buffer, size, records);
}

void CUPTIAPI on_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                           size_t valid) {
  static auto* const next =
      real<decltype(&cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
  if (buffer != nullptr && next != nullptr) {
    Recorder& to = recorder();
    const std::scoped_lock lock(to.mutex);
    CUpti_Activity* record = nullptr;
    while (next(buffer, valid, &record) == CUPTI_SUCCESS) put_activity(to, record);
    to.writer.flush();
  }
  client_completed.load()(context, stream, buffer, size, valid);
}

}  // namespace

// ---- Functions that the collector calls

// NOLINTBEGIN(bugprone-macro-parentheses): parameter lists are no expressions
#define FORWARDED(name, parameters, arguments)                                   \
  extern "C" CUptiResult CUPTIAPI name parameters {                              \
    static auto* const function = real<decltype(&name)>(#name);                  \
    return function == nullptr ? CUPTI_ERROR_NOT_SUPPORTED : function arguments; \
  }
// NOLINTEND(bugprone-macro-parentheses)

FORWARDED(cuptiGetVersion, (uint32_t* version), (version))
FORWARDED(cuptiGetResultString, (CUptiResult result, const char** text), (result, text))
FORWARDED(cuptiUnsubscribe, (CUpti_SubscriberHandle subscriber), (subscriber))
FORWARDED(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind))
FORWARDED(cuptiActivityDisable, (CUpti_ActivityKind kind), (kind))
FORWARDED(cuptiActivityGetNextRecord, (uint8_t* buffer, size_t valid, CUpti_Activity** record),
          (buffer, valid, record))
FORWARDED(cuptiActivityFlushAll, (uint32_t flag), (flag))
FORWARDED(cuptiActivityFlushPeriod, (uint32_t time), (time))
FORWARDED(cuptiActivitySetAttribute, (CUpti_ActivityAttribute attribute, size_t* size, void* value),
          (attribute, size, value))
FORWARDED(cuptiFinalize, (), ())
FORWARDED(cuptiGetGraphNodeId, (CUgraphNode node, uint64_t* id), (node, id))
FORWARDED(cuptiGetGraphExecId, (CUgraphExec graph, uint32_t* id), (graph, id))
FORWARDED(cuptiGetGraphId, (CUgraph graph, uint32_t* id), (graph, id))
FORWARDED(cuptiGetTimestamp, (uint64_t* time), (time))
FORWARDED(cuptiGetCallbackName, (CUpti_CallbackDomain domain, uint32_t cbid, const char** name),
          (domain, cbid, name))
FORWARDED(cuptiActivityEnableLatencyTimestamps, (uint8_t enable), (enable))
FORWARDED(cuptiSupportedDomains, (size_t* count, CUpti_DomainTable* table), (count, table))

extern "C" CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                               CUpti_CallbackFunc callback, void* userdata) {
  static auto* const subscribe = real<decltype(&cuptiSubscribe)>("cuptiSubscribe");
  static auto* const enable = real<decltype(&cuptiEnableDomain)>("cuptiEnableDomain");
  if (subscribe == nullptr || enable == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  client_callback = callback;
  client_userdata = userdata;
  const CUptiResult result = subscribe(subscriber, on_callback, nullptr);
  if (result != CUPTI_SUCCESS) return result;
  for (const auto domain :
       {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}) {
    enable(1, *subscriber, domain);
  }
  return result;
}

extern "C" CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable,
                                                    CUpti_SubscriberHandle subscriber,
                                                    CUpti_CallbackDomain domain,
                                                    CUpti_CallbackId cbid) {
  if (domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= kMostCallbacks)
    return CUPTI_ERROR_INVALID_PARAMETER;
  client_wants[domain][cbid] = enable != 0;
  static auto* const function = real<decltype(&cuptiEnableCallback)>("cuptiEnableCallback");
  return enable != 0 ? function(enable, subscriber, domain, cbid) : CUPTI_SUCCESS;
}

extern "C" CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable,
                                                  CUpti_SubscriberHandle subscriber,
                                                  CUpti_CallbackDomain domain) {
  if (domain >= CUPTI_CB_DOMAIN_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto& wanted : client_wants[domain]) wanted = enable != 0;
  static auto* const function = real<decltype(&cuptiEnableDomain)>("cuptiEnableDomain");
  return enable != 0 ? function(enable, subscriber, domain) : CUPTI_SUCCESS;
}

extern "C" CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
  client_requested = requested;
  client_completed = completed;
  static auto* const function =
      real<decltype(&cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks");
  return function == nullptr ? CUPTI_ERROR_NOT_SUPPORTED : function(on_requested, on_completed);
}

extern "C" CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  static auto* const function = real<decltype(&cuptiActivityRegisterTimestampCallback)>(
      "cuptiActivityRegisterTimestampCallback");
  if (function == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  const CUptiResult result = function(clock);
  if (result == CUPTI_SUCCESS) clients_clock = clock;
  return result;
}

extern "C" CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context,
                                                                  uint32_t stream,
                                                                  size_t* dropped) {
  static auto* const function =
      real<decltype(&cuptiActivityGetNumDroppedRecords)>("cuptiActivityGetNumDroppedRecords");
  if (function == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  const CUptiResult result = function(context, stream, dropped);
  if (result == CUPTI_SUCCESS && *dropped != 0) {
    Recorder& to = recorder();
    const std::scoped_lock lock(to.mutex);
    to.writer.put(Kind::dropped, 0, now(), Dropped{*dropped});
  }
  return result;
}

// ---- NVTX: each call is written to the tape, then passed to the collector's function.

namespace {

NvtxFunctionPointer collectors_core[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer collectors_core2[NVTX_CBID_CORE2_SIZE];

template <class Function>
Function core(int id) {
  return reinterpret_cast<Function>(collectors_core[id]);
}
template <class Function>
Function core2(int id) {
  return reinterpret_cast<Function>(collectors_core2[id]);
}

// Wide texts of NVTX annotations are ASCII in practice; other characters become '?'.
std::string narrow(const wchar_t* text) {
  std::string result;
  constexpr wchar_t kAscii = 128;
  for (; text != nullptr && *text != 0; ++text) {
    result.push_back(*text < kAscii ? static_cast<char>(*text) : '?');
  }
  return result;
}

Nvtx plain(Recorder& to, NvtxOp op, NvtxForm form, std::string_view text) {
  return Nvtx{op, form, 0, to.writer.text(text), 0};
}

Nvtx with_attributes(Recorder& to, NvtxOp op, nvtxDomainHandle_t domain,
                     const nvtxEventAttributes_t* attributes) {
  Nvtx item{op, NvtxForm::attributes, domain != nullptr ? to.domains[domain] : 0, 0, 0};
  if (attributes == nullptr) return item;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    const auto& [number, text] = to.strings[attributes->message.registered];
    item.form = NvtxForm::registered;
    item.text = text;
    item.handle = number;
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    item.form = NvtxForm::wide;
    item.text = to.writer.text(narrow(attributes->message.unicode));
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    item.text = to.writer.text(attributes->message.ascii);
  }
  return item;
}

template <class Make>
void put_nvtx(Make make) {
  Recorder& to = recorder();
  const std::scoped_lock lock(to.mutex);
  put(to, Kind::nvtx, make(to));
}

// A started range, whose number is the collector's.
template <class Make>
nvtxRangeId_t put_start(nvtxRangeId_t id, Make make) {
  put_nvtx([&](Recorder& to) {
    Nvtx item = make(to);
    // A registered text has its own handle, so the range's id on the tape is a number of its own.
    to.ranges[id] = ++to.handles;
    if (item.form == NvtxForm::registered) item.form = NvtxForm::attributes;
    item.handle = to.handles;
    return item;
  });
  return id;
}

void put_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  put_nvtx([&](Recorder& to) {
    return Nvtx{NvtxOp::end, NvtxForm::plain, domain != nullptr ? to.domains[domain] : 0, 0,
                to.ranges[id]};
  });
}

void mark_ex(const nvtxEventAttributes_t* a) {
  put_nvtx([&](Recorder& to) { return with_attributes(to, NvtxOp::mark, nullptr, a); });
  if (auto* f = core<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx)) f(a);
}
void mark_a(const char* text) {
  put_nvtx([&](Recorder& to) { return plain(to, NvtxOp::mark, NvtxForm::plain, text); });
  if (auto* f = core<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA)) f(text);
}
void mark_w(const wchar_t* text) {
  put_nvtx([&](Recorder& to) { return plain(to, NvtxOp::mark, NvtxForm::wide, narrow(text)); });
  if (auto* f = core<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW)) f(text);
}
nvtxRangeId_t start_ex(const nvtxEventAttributes_t* a) {
  auto* f = core<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx);
  return put_start(f != nullptr ? f(a) : 0,
                   [&](Recorder& to) { return with_attributes(to, NvtxOp::start, nullptr, a); });
}
nvtxRangeId_t start_a(const char* text) {
  auto* f = core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA);
  return put_start(f != nullptr ? f(text) : 0,
                   [&](Recorder& to) { return plain(to, NvtxOp::start, NvtxForm::plain, text); });
}
nvtxRangeId_t start_w(const wchar_t* text) {
  auto* f = core<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW);
  return put_start(f != nullptr ? f(text) : 0, [&](Recorder& to) {
    return plain(to, NvtxOp::start, NvtxForm::wide, narrow(text));
  });
}
void end_range(nvtxRangeId_t id) {
  put_end(nullptr, id);
  if (auto* f = core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd)) f(id);
}
int push_ex(const nvtxEventAttributes_t* a) {
  put_nvtx([&](Recorder& to) { return with_attributes(to, NvtxOp::push, nullptr, a); });
  auto* f = core<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx);
  return f != nullptr ? f(a) : 0;
}
int push_a(const char* text) {
  put_nvtx([&](Recorder& to) { return plain(to, NvtxOp::push, NvtxForm::plain, text); });
  auto* f = core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA);
  return f != nullptr ? f(text) : 0;
}
int push_w(const wchar_t* text) {
  put_nvtx([&](Recorder& to) { return plain(to, NvtxOp::push, NvtxForm::wide, narrow(text)); });
  auto* f = core<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW);
  return f != nullptr ? f(text) : 0;
}
int pop() {
  put_nvtx([](Recorder&) { return Nvtx{NvtxOp::pop, NvtxForm::plain, 0, 0, 0}; });
  auto* f = core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
  return f != nullptr ? f() : 0;
}
void name_thread_a(uint32_t thread, const char* name) {
  put_nvtx([&](Recorder& to) { return plain(to, NvtxOp::name_thread, NvtxForm::plain, name); });
  if (auto* f = core<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA)) f(thread, name);
}

void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  put_nvtx([&](Recorder& to) { return with_attributes(to, NvtxOp::mark, domain, a); });
  if (auto* f = core2<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx)) f(domain, a);
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  auto* f = core2<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
  return put_start(f != nullptr ? f(domain, a) : 0,
                   [&](Recorder& to) { return with_attributes(to, NvtxOp::start, domain, a); });
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  put_end(domain, id);
  if (auto* f = core2<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd)) {
    f(domain, id);
  }
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  put_nvtx([&](Recorder& to) { return with_attributes(to, NvtxOp::push, domain, a); });
  auto* f = core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  return f != nullptr ? f(domain, a) : 0;
}
int domain_pop(nvtxDomainHandle_t domain) {
  put_nvtx([&](Recorder& to) {
    return Nvtx{NvtxOp::pop, NvtxForm::plain, domain != nullptr ? to.domains[domain] : 0, 0, 0};
  });
  auto* f = core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  return f != nullptr ? f(domain) : 0;
}

// Handles must differ even if the collector returns none.
template <class Handle>
Handle or_own(Handle given, uint32_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers to their users
  return given != nullptr ? given : reinterpret_cast<Handle>(uintptr_t{number});
}

nvtxStringHandle_t put_string(nvtxDomainHandle_t domain, nvtxStringHandle_t given, NvtxForm form,
                              std::string_view text) {
  put_nvtx([&](Recorder& to) {
    const uint32_t number = ++to.handles;
    given = or_own(given, number);
    const TextId id = to.writer.text(text);
    to.strings[given] = {number, id};
    return Nvtx{NvtxOp::register_string, form, domain != nullptr ? to.domains[domain] : 0, id,
                number};
  });
  return given;
}
nvtxStringHandle_t register_a(nvtxDomainHandle_t domain, const char* text) {
  auto* f = core2<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA);
  return put_string(domain, f != nullptr ? f(domain, text) : nullptr, NvtxForm::plain, text);
}
nvtxStringHandle_t register_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  auto* f = core2<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW);
  return put_string(domain, f != nullptr ? f(domain, text) : nullptr, NvtxForm::wide, narrow(text));
}

nvtxDomainHandle_t put_domain(nvtxDomainHandle_t given, NvtxForm form, std::string_view text) {
  put_nvtx([&](Recorder& to) {
    const uint32_t number = ++to.handles;
    given = or_own(given, number);
    to.domains[given] = number;
    return Nvtx{NvtxOp::domain_create, form, 0, to.writer.text(text), number};
  });
  return given;
}
nvtxDomainHandle_t create_a(const char* name) {
  auto* f = core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA);
  return put_domain(f != nullptr ? f(name) : nullptr, NvtxForm::plain, name);
}
nvtxDomainHandle_t create_w(const wchar_t* name) {
  auto* f = core2<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW);
  return put_domain(f != nullptr ? f(name) : nullptr, NvtxForm::wide, narrow(name));
}
void destroy(nvtxDomainHandle_t domain) {
  put_nvtx([&](Recorder& to) {
    return Nvtx{NvtxOp::domain_destroy, NvtxForm::plain, to.domains[domain], 0, 0};
  });
  if (auto* f = core2<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy)) f(domain);
}

// A program may contain several copies of NVTX, each initialized with its own table. Entries that
// the collector did not set point back to NVTX's initialization and are not called.
class NvtxTable {
 public:
  NvtxTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
            NvtxFunctionPointer* kept)
      : kept_(kept) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
    for (unsigned id = 0; id < size_; ++id) {
      before_.push_back(table_[id] != nullptr ? *table_[id] : nullptr);
    }
  }
  template <class Function>
  void take(unsigned id, Function* ours) const {
    if (id >= size_ || table_[id] == nullptr) return;
    if (*table_[id] != before_[id]) kept_[id] = *table_[id];
    *table_[id] = reinterpret_cast<NvtxFunctionPointer>(ours);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
  std::vector<NvtxFunctionPointer> before_;
  NvtxFunctionPointer* kept_;
};

void take_core(const NvtxTable& table) {
  table.take(NVTX_CBID_CORE_MarkEx, mark_ex);
  table.take(NVTX_CBID_CORE_MarkA, mark_a);
  table.take(NVTX_CBID_CORE_MarkW, mark_w);
  table.take(NVTX_CBID_CORE_RangeStartEx, start_ex);
  table.take(NVTX_CBID_CORE_RangeStartA, start_a);
  table.take(NVTX_CBID_CORE_RangeStartW, start_w);
  table.take(NVTX_CBID_CORE_RangeEnd, end_range);
  table.take(NVTX_CBID_CORE_RangePushEx, push_ex);
  table.take(NVTX_CBID_CORE_RangePushA, push_a);
  table.take(NVTX_CBID_CORE_RangePushW, push_w);
  table.take(NVTX_CBID_CORE_RangePop, pop);
  table.take(NVTX_CBID_CORE_NameOsThreadA, name_thread_a);
}

void take_core2(const NvtxTable& table) {
  table.take(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  table.take(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  table.take(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  table.take(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  table.take(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  table.take(NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
  table.take(NVTX_CBID_CORE2_DomainRegisterStringW, register_w);
  table.take(NVTX_CBID_CORE2_DomainCreateA, create_a);
  table.take(NVTX_CBID_CORE2_DomainCreateW, create_w);
  table.take(NVTX_CBID_CORE2_DomainDestroy, destroy);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): NVTX calls it so
extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  const NvtxTable core(*callbacks, NVTX_CB_MODULE_CORE, collectors_core);
  const NvtxTable core2(*callbacks, NVTX_CB_MODULE_CORE2, collectors_core2);
  const char* path = std::getenv("LLMPROF_COLLECTOR");
  void* collector = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (collector != nullptr) {
    using Initialize = int (*)(NvtxGetExportTableFunc_t);
    auto* initialize = reinterpret_cast<Initialize>(dlsym(collector, "InitializeInjectionNvtx2"));
    if (initialize != nullptr) initialize(get_table);
  }
  take_core(core);
  take_core2(core2);
  return 1;
}

}  // namespace llmprof
