// make_tape eager|graph|edges|running|memory FILE [--steps=N] [--layers=N] [--slower=N]: tapes of
// programs that never ran, in the form of recorded ones. --slower: kernels of layers take N times
// as long.
//   eager   prefill and decode steps of layers, kernels launched one by one; a second thread
//   graph   one decode step, captured inside the ranges of its layers, instantiated, replayed
//   edges   extreme values of records: long kernels, long calls, long names, two devices, NVTX
//           in all its forms
//   running  work that has not ended when the program does
//   memory   allocations of every kind
#include <cupti.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tape.h"

namespace llmprof {
namespace {

using namespace tape;

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kMillisecond = 1000 * kMicrosecond;
constexpr int64_t kBegin = 1'000'000 * kMillisecond;  // no time of a tape is small
constexpr uint32_t kContext = 1;
constexpr uint32_t kStream = 7;
constexpr uint16_t kMain = 1;
constexpr uint16_t kSecond = 2;

constexpr uint32_t kGraphId = 2;
constexpr uint32_t kExecId = 3;

struct Shape {
  int grid = 132;
  int block = 256;
  int dynamic_shared = 0;
};

struct Place {
  uint32_t device = 0;
  uint32_t stream = kStream;
};

struct GraphPart {
  uint64_t node = 0;
  uint32_t graph = 0;
};

// Writes items at a time that advances with every call; GPU work runs in order, as on one stream.
class TapeMaker {
 public:
  explicit TapeMaker(const char* path) : writer(path, CUPTI_API_VERSION) {}

  Writer writer;
  int64_t now = kBegin;
  int64_t gpu_free = kBegin;
  uint32_t correlation = 0;
  uint32_t handles = 0;

  void pass(int64_t nanoseconds) { now += nanoseconds; }

  void api(uint16_t thread, CUpti_CallbackDomain domain, uint32_t cbid, CUpti_ApiCallbackSite site,
           std::string_view function, std::string_view symbol = {}) {
    Api item{};
    item.domain = domain;
    item.cbid = cbid;
    item.site = site;
    item.correlation = correlation;
    item.context = kContext;
    item.function = writer.text(function);
    if (!symbol.empty()) item.symbol = writer.text(symbol);
    item.graph_exec = function.ends_with("GraphLaunch") ? kExecId : 0;
    writer.put(Kind::api, thread, now, item);
    pass(kMicrosecond / 2);
  }
  void runtime(uint16_t thread, uint32_t cbid, CUpti_ApiCallbackSite site,
               std::string_view function, std::string_view symbol = {}) {
    api(thread, CUPTI_CB_DOMAIN_RUNTIME_API, cbid, site, function, symbol);
  }
  void driver(uint16_t thread, uint32_t cbid, CUpti_ApiCallbackSite site, std::string_view function,
              std::string_view symbol = {}) {
    api(thread, CUPTI_CB_DOMAIN_DRIVER_API, cbid, site, function, symbol);
  }

  void resource(uint32_t cbid, uint64_t node = 0, uint64_t original = 0, uint32_t graph = 0) {
    Resource item{};
    item.cbid = cbid;
    item.context = kContext;
    item.node = node;
    item.original_node = original;
    item.graph = graph;
    item.graph_exec = cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED ? graph : 0;
    writer.put(Kind::resource, kMain, now, item);
    pass(kMicrosecond / 2);
  }

  void nvtx(uint16_t thread, NvtxOp op, NvtxForm form, uint32_t domain, std::string_view text,
            uint32_t handle = 0) {
    const TextId id = text.empty() ? 0 : writer.text(text);
    writer.put(Kind::nvtx, thread, now, Nvtx{op, form, domain, id, handle});
    pass(kMicrosecond / 2);
  }
  void thread(Kind kind, uint32_t number) { writer.put(kind, kMain, now, Thread{number, 0}); }
  void sleep(uint16_t thread) { writer.put(Kind::sleep, thread, now, Thread{}); }

  int64_t work(int64_t nanoseconds) {
    constexpr int64_t kLatency = 3 * kMicrosecond;
    const int64_t start = now + kLatency > gpu_free ? now + kLatency : gpu_free;
    gpu_free = start + nanoseconds;
    return start;
  }

  void kernel_record(std::string_view name, int64_t start, int64_t nanoseconds, Shape shape = {},
                     Place place = {}, GraphPart part = {}) {
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = static_cast<uint64_t>(start);
    record.end = start == 0 ? 0 : static_cast<uint64_t>(start + nanoseconds);
    record.completed = record.end;
    record.deviceId = place.device;
    record.contextId = kContext + place.device;
    record.streamId = place.stream;
    record.gridX = shape.grid;
    record.gridY = record.gridZ = 1;
    record.blockX = shape.block;
    record.blockY = record.blockZ = 1;
    constexpr uint16_t kRegisters = 64;
    record.registersPerThread = kRegisters;
    record.dynamicSharedMemory = shape.dynamic_shared;
    record.correlationId = correlation;
    record.graphNodeId = part.node;
    record.graphId = part.graph;
    activity(record, record.correlationId, writer.text(name),
             offsetof(CUpti_ActivityKernel10, name));
  }

  template <class Record>
  void activity(const Record& record, uint32_t launched_by, TextId name = 0,
                size_t name_offset = 0) {
    writer.put(Kind::activity, 0, static_cast<int64_t>(record.start),
               Activity{sizeof record, launched_by, name, static_cast<uint32_t>(name_offset)},
               &record, sizeof record);
  }

  // cudaLaunchKernel, which calls cuLaunchKernel.
  void launch(uint16_t thread, std::string_view name, int64_t nanoseconds, Shape shape = {},
              Place place = {}) {
    ++correlation;
    enter_launch(thread, name);
    const int64_t start = work(nanoseconds);
    leave_launch(thread, name);
    kernel_record(name, start, nanoseconds, shape, place);
  }
  void enter_launch(uint16_t thread, std::string_view name) {
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_ENTER,
            "cudaLaunchKernel", name);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER, "cuLaunchKernel", name);
  }
  void leave_launch(uint16_t thread, std::string_view name) {
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_EXIT, "cuLaunchKernel", name);
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_EXIT,
            "cudaLaunchKernel", name);
  }
  // Like Triton, without the runtime.
  void driver_launch(uint16_t thread, std::string_view name, int64_t nanoseconds, Place place) {
    ++correlation;
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_API_ENTER, "cuLaunchKernelEx",
           name);
    const int64_t start = work(nanoseconds);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_API_EXIT, "cuLaunchKernelEx",
           name);
    kernel_record(name, start, nanoseconds, {}, place);
  }

  void copy(uint16_t thread, CUpti_ActivityMemcpyKind kind, uint64_t bytes, int64_t nanoseconds) {
    ++correlation;
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUPTI_API_ENTER,
            "cudaMemcpyAsync");
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, CUPTI_API_ENTER, "cuMemcpyAsync");
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = static_cast<uint8_t>(kind);
    fill(record, bytes, nanoseconds);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, CUPTI_API_EXIT, "cuMemcpyAsync");
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUPTI_API_EXIT,
            "cudaMemcpyAsync");
    activity(record, correlation);
  }
  void peer_copy(uint16_t thread, uint64_t bytes, int64_t nanoseconds) {
    ++correlation;
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000, CUPTI_API_ENTER,
            "cudaMemcpyPeerAsync");
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, CUPTI_API_ENTER, "cuMemcpyPeerAsync");
    CUpti_ActivityMemcpyPtoP4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    record.dstDeviceId = 1;
    fill(record, bytes, nanoseconds);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, CUPTI_API_EXIT, "cuMemcpyPeerAsync");
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000, CUPTI_API_EXIT,
            "cudaMemcpyPeerAsync");
    activity(record, correlation);
  }
  void set(uint16_t thread, uint64_t bytes, int64_t nanoseconds) {
    ++correlation;
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, CUPTI_API_ENTER,
            "cudaMemsetAsync");
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, CUPTI_API_ENTER, "cuMemsetD8Async");
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    fill(record, bytes, nanoseconds);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, CUPTI_API_EXIT, "cuMemsetD8Async");
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, CUPTI_API_EXIT,
            "cudaMemsetAsync");
    activity(record, correlation);
  }

  // Returns when the GPU is done.
  void synchronize(uint16_t thread) {
    ++correlation;
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, CUPTI_API_ENTER,
            "cudaStreamSynchronize");
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_API_ENTER,
           "cuStreamSynchronize");
    if (gpu_free > now) now = gpu_free;
    sleep(thread);
    driver(thread, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_API_EXIT,
           "cuStreamSynchronize");
    runtime(thread, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, CUPTI_API_EXIT,
            "cudaStreamSynchronize");
  }

  void initialize() {
    resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
    resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }

 private:
  template <class Record>
  void fill(Record& record, uint64_t bytes, int64_t nanoseconds) {
    const int64_t start = work(nanoseconds);
    record.bytes = bytes;
    record.start = static_cast<uint64_t>(start);
    record.end = static_cast<uint64_t>(start + nanoseconds);
    record.contextId = kContext;
    record.streamId = kStream;
    record.correlationId = correlation;
  }
};

// Push and pop of registered names in the domain LLM, like llmprof's own annotations.
class Annotations {
 public:
  explicit Annotations(TapeMaker& maker) : maker_(maker), domain_(++maker.handles) {
    maker.nvtx(kMain, NvtxOp::domain_create, NvtxForm::plain, 0, "LLM", domain_);
  }
  void push(std::string_view name) {
    const auto [place, is_new] = names_.try_emplace(std::string(name), maker_.handles + 1);
    if (is_new) {
      ++maker_.handles;
      maker_.nvtx(kMain, NvtxOp::register_string, NvtxForm::plain, domain_, name, place->second);
    }
    maker_.nvtx(kMain, NvtxOp::push, NvtxForm::registered, domain_, name, place->second);
  }
  void pop() { maker_.nvtx(kMain, NvtxOp::pop, NvtxForm::plain, domain_, {}); }
  [[nodiscard]] uint32_t domain() const { return domain_; }

 private:
  TapeMaker& maker_;
  uint32_t domain_;
  std::map<std::string, uint32_t> names_;
};

struct Size {
  unsigned steps = 8;
  unsigned layers = 2;
  unsigned slower = 1;
};

struct KernelOfLayer {
  const char* range;
  const char* name;
  int64_t nanoseconds;
  Shape shape;
};
constexpr KernelOfLayer kLayer[] = {
    {"attn", "_Z8rms_normPKfPfi", 2 * kMicrosecond, {1, 512, 0}},
    {"attn", "gemm_bf16_qkv_128x64", 11 * kMicrosecond, {192, 128, 49152}},
    {"attn", "_Z16decode_attentionPKfS0_S0_Pfi", 7 * kMicrosecond, {32, 128, 16384}},
    {"mlp", "_Z8rms_normPKfPfi", 2 * kMicrosecond, {1, 512, 0}},
    {"mlp", "gemm_bf16_gate_up_128x128", 23 * kMicrosecond, {448, 256, 98304}},
};

std::string layer_name(unsigned layer) {
  constexpr unsigned kTen = 10;
  return "layer_" + std::to_string(layer / kTen) + std::to_string(layer % kTen);
}

// Calls `kernel` for each kernel of a step, inside ranges layer_00/attn and so on.
template <class Kernel>
void for_each_kernel(Annotations& ranges, const Size& size, Kernel kernel) {
  for (unsigned layer = 0; layer < size.layers; ++layer) {
    ranges.push(layer_name(layer));
    const char* open = nullptr;
    for (KernelOfLayer part : kLayer) {
      part.nanoseconds *= size.slower;
      if (open != part.range) {
        if (open != nullptr) ranges.pop();
        ranges.push(part.range);
      }
      open = part.range;
      kernel(part);
    }
    ranges.pop();
    ranges.pop();
  }
}

void second_thread(TapeMaker& maker) {
  maker.thread(Kind::thread_begin, kSecond);
  const Place own_stream{0, kStream + 6};
  maker.nvtx(kSecond, NvtxOp::name_thread, NvtxForm::plain, 0, "sampler");
  maker.nvtx(kSecond, NvtxOp::push, NvtxForm::plain, 0, "sampling");
  maker.driver_launch(kSecond, "triton_softmax_0d1d", 3 * kMicrosecond, own_stream);
  maker.driver_launch(kSecond, "triton_topk_0d1d", 4 * kMicrosecond, own_stream);
  maker.nvtx(kSecond, NvtxOp::pop, NvtxForm::plain, 0, {});
}

void make_eager(TapeMaker& maker, const Size& size) {
  maker.initialize();
  Annotations ranges(maker);
  const auto launch = [&](const KernelOfLayer& part) {
    maker.launch(kMain, part.name, part.nanoseconds, part.shape);
  };
  ranges.push("prefill");
  maker.copy(kMain, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 4096, 2 * kMicrosecond);
  maker.set(kMain, 65536, kMicrosecond);
  for_each_kernel(ranges, size, launch);
  maker.synchronize(kMain);
  ranges.pop();
  second_thread(maker);
  ranges.push("decode_all");
  for (unsigned step = 0; step < size.steps; ++step) {
    ranges.push("decode_step");
    for_each_kernel(ranges, size, launch);
    maker.copy(kMain, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 8, kMicrosecond);
    maker.synchronize(kMain);
    ranges.pop();
  }
  ranges.pop();
  maker.thread(Kind::join, kSecond);
}

// Ids like CUPTI's: the graph in the upper bits, a count in the lower ones.
uint64_t node_id(uint32_t graph, uint64_t number) {
  constexpr unsigned kGraph = 32;
  return (uint64_t{graph} << kGraph) + number;
}

// A captured launch creates a node instead of work.
uint64_t capture(TapeMaker& maker, Annotations& ranges, const Size& size) {
  uint64_t nodes = 0;
  for_each_kernel(ranges, size, [&](const KernelOfLayer& part) {
    ++maker.correlation;
    maker.enter_launch(kMain, part.name);
    maker.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node_id(kGraphId, ++nodes), 0, kGraphId);
    maker.leave_launch(kMain, part.name);
  });
  return nodes;
}

void instantiate(TapeMaker& maker, uint64_t nodes) {
  ++maker.correlation;
  maker.runtime(kMain, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000, CUPTI_API_ENTER,
                "cudaGraphInstantiate");
  for (uint64_t node = 1; node <= nodes; ++node) {
    maker.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node_id(kExecId, node),
                   node_id(kGraphId, node), kGraphId);
  }
  maker.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 0, 0, kExecId);
  maker.runtime(kMain, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000, CUPTI_API_EXIT,
                "cudaGraphInstantiate");
}

void replay(TapeMaker& maker, const Size& size) {
  ++maker.correlation;
  maker.runtime(kMain, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, CUPTI_API_ENTER,
                "cudaGraphLaunch");
  maker.driver(kMain, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_ENTER, "cuGraphLaunch");
  CUpti_ActivityGraphTrace2 whole{};
  whole.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  whole.correlationId = maker.correlation;
  whole.graphId = kExecId;
  whole.contextId = whole.endContextId = kContext;
  whole.streamId = kStream;
  uint64_t node = 0;
  for (unsigned layer = 0; layer < size.layers; ++layer) {
    for (const KernelOfLayer& part : kLayer) {
      const int64_t nanoseconds = part.nanoseconds * size.slower;
      const int64_t start = maker.work(nanoseconds);
      if (node == 0) whole.start = static_cast<uint64_t>(start);
      maker.kernel_record(part.name, start, nanoseconds, part.shape, {},
                          {node_id(kExecId, ++node), kExecId});
    }
  }
  whole.end = static_cast<uint64_t>(maker.gpu_free);
  maker.activity(whole, whole.correlationId);
  maker.driver(kMain, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_EXIT, "cuGraphLaunch");
  maker.runtime(kMain, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, CUPTI_API_EXIT,
                "cudaGraphLaunch");
}

void make_graph(TapeMaker& maker, const Size& size) {
  maker.initialize();
  Annotations ranges(maker);
  ranges.push("warm_up");
  const uint64_t nodes = capture(maker, ranges, size);
  instantiate(maker, nodes);
  ranges.pop();
  ranges.push("decode_all");
  for (unsigned step = 0; step < size.steps; ++step) {
    ranges.push("decode_step");
    replay(maker, size);
    maker.synchronize(kMain);
    ranges.pop();
  }
  ranges.pop();
}

void nvtx_of_all_kinds(TapeMaker& maker) {
  const uint32_t domain = ++maker.handles;
  const uint32_t name = ++maker.handles;
  maker.nvtx(kMain, NvtxOp::domain_create, NvtxForm::plain, 0, "engine", domain);
  maker.nvtx(kMain, NvtxOp::register_string, NvtxForm::plain, domain, "registered name", name);
  for (const auto op : {NvtxOp::push, NvtxOp::mark}) {
    const std::string what = op == NvtxOp::push ? " push" : " mark";
    maker.nvtx(kMain, op, NvtxForm::plain, 0, "plain" + what);
    maker.nvtx(kMain, op, NvtxForm::attributes, 0, "attributes" + what);
    maker.nvtx(kMain, op, NvtxForm::wide, 0, "wide" + what);
    maker.nvtx(kMain, op, NvtxForm::attributes, domain, "domain" + what);
    maker.nvtx(kMain, op, NvtxForm::registered, domain, "registered name", name);
  }
  // Two domains' stacks do not nest in each other.
  for (const uint32_t of : {0U, domain, 0U, domain, 0U}) {
    maker.nvtx(kMain, NvtxOp::pop, NvtxForm::plain, of, {});
  }
  const uint32_t started = ++maker.handles;
  const uint32_t in_domain = ++maker.handles;
  maker.nvtx(kMain, NvtxOp::start, NvtxForm::plain, 0, "plain start", started);
  maker.nvtx(kMain, NvtxOp::start, NvtxForm::attributes, domain, "domain start", in_domain);
  maker.nvtx(kMain, NvtxOp::end, NvtxForm::plain, 0, {}, started);
  maker.nvtx(kMain, NvtxOp::end, NvtxForm::plain, domain, {}, in_domain);
}

void make_edges(TapeMaker& maker) {
  constexpr int64_t kSecondOfTime = 1000 * kMillisecond;
  constexpr size_t kTooLong = 20'000;
  maker.initialize();
  nvtx_of_all_kinds(maker);
  maker.launch(kMain, "kernel_of_no_time", 0);
  maker.launch(kMain, "kernel_on_device_1", kMicrosecond, {}, {1, kStream});
  maker.launch(kMain, std::string(kTooLong, 'x'), kMicrosecond);
  // Times that CUPTI could not measure are 0.
  ++maker.correlation;
  maker.enter_launch(kMain, "kernel_without_times");
  maker.leave_launch(kMain, "kernel_without_times");
  maker.kernel_record("kernel_without_times", 0, 0);
  // A launch that takes longer than its record can hold.
  ++maker.correlation;
  maker.enter_launch(kMain, "kernel_of_a_long_launch");
  constexpr int64_t kLongCall = 30 * kMillisecond;
  const int64_t start = maker.work(kMicrosecond);
  maker.pass(kLongCall);
  maker.sleep(kMain);
  maker.leave_launch(kMain, "kernel_of_a_long_launch");
  maker.kernel_record("kernel_of_a_long_launch", start, kMicrosecond);
  // GPU work that no call on the tape launched, as after attaching to a running program.
  const uint32_t kept = maker.correlation;
  constexpr uint32_t kUnknown = 1'000'000;
  maker.correlation = kUnknown;
  maker.kernel_record("kernel_of_an_unknown_launch", maker.work(kMicrosecond), kMicrosecond);
  maker.correlation = kept;
  maker.peer_copy(kMain, 1U << 20U, kMicrosecond);
  // Longer than 32 bits of nanoseconds can hold.
  ++maker.correlation;
  maker.enter_launch(kMain, "kernel_of_five_seconds");
  maker.leave_launch(kMain, "kernel_of_five_seconds");
  maker.kernel_record("kernel_of_five_seconds", maker.now - 5 * kSecondOfTime, 5 * kSecondOfTime);
  maker.synchronize(kMain);
}

// cudaMalloc and alike, of which CUPTI makes a record.
struct MemoryRecord {
  CUpti_ActivityMemoryOperationType operation = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  CUpti_ActivityMemoryKind kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  uint64_t address = 0;
  uint64_t bytes = 0;
  const char* library = "";
  uint64_t pool = 0;
  uint64_t pool_bytes = 0;
};

void memory_record(TapeMaker& maker, const MemoryRecord& of) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = of.operation;
  record.memoryKind = of.kind;
  record.correlationId = maker.correlation;
  record.address = of.address;
  record.bytes = of.bytes;
  record.timestamp = static_cast<uint64_t>(maker.now);
  record.contextId = kContext;
  record.streamId = of.pool == 0 ? CUPTI_INVALID_STREAM_ID : kStream;
  record.memoryPoolConfig.memoryPoolType = of.pool == 0 ? CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID
                                                        : CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.address = of.pool;
  record.memoryPoolConfig.pool.size = of.pool_bytes;
  record.memoryPoolConfig.utilizedSize = of.pool == 0 ? 0 : of.bytes;
  const TextId library = *of.library == '\0' ? 0 : maker.writer.text(of.library);
  maker.writer.put(Kind::activity, 0, maker.now,
                   Activity{sizeof record, maker.correlation, library,
                            static_cast<uint32_t>(offsetof(CUpti_ActivityMemory4, source))},
                   &record, sizeof record);
}

void call_memory(TapeMaker& maker, uint32_t cbid, const char* function, const MemoryRecord& of) {
  ++maker.correlation;
  maker.driver(kMain, cbid, CUPTI_API_ENTER, function);
  memory_record(maker, of);
  maker.driver(kMain, cbid, CUPTI_API_EXIT, function);
}

// A call for virtual memory; CUPTI records `mapped` with it, with the wrong library.
void call_mapping(TapeMaker& maker, uint32_t cbid, const char* function, MemoryCall call,
                  uint64_t mapped = 0) {
  ++maker.correlation;
  maker.driver(kMain, cbid, CUPTI_API_ENTER, function);
  if (mapped != 0) {
    memory_record(maker,
                  {.address = call.address, .bytes = mapped, .library = "/lib/libcudnn.so.9"});
  }
  call.api.domain = CUPTI_CB_DOMAIN_DRIVER_API;
  call.api.cbid = cbid;
  call.api.site = CUPTI_API_EXIT;
  call.api.correlation = maker.correlation;
  call.api.context = kContext;
  call.api.function = maker.writer.text(function);
  maker.writer.put(Kind::memory_call, kMain, maker.now, call);
  maker.pass(kMicrosecond);
}

void set_used(TapeMaker& maker, uint64_t used) {
  maker.writer.put(Kind::gpu_memory, kMain, maker.now, GpuMemory{used});
}

// Allocations of every kind; tests/end_to_end/test_cupti_memory.py states them again.
void make_memory(TapeMaker& maker) {
  constexpr uint64_t kMiB = 1U << 20U;
  constexpr uint64_t kHeap = uint64_t{1} << 40U;
  constexpr uint64_t kVirtual = uint64_t{2} << 40U;
  constexpr uint64_t kPool = 0x5000;
  constexpr uint64_t kHandle = 77;
  constexpr auto kRelease = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  constexpr uint32_t kAlloc = CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2;
  set_used(maker, 518 * kMiB);
  maker.initialize();
  Annotations ranges(maker);
  ranges.push("load");
  call_memory(maker, kAlloc, "cuMemAlloc_v2",
              {.address = kHeap, .bytes = 512 * kMiB, .library = "/app/libengine.so"});
  call_memory(maker, kAlloc, "cuMemAlloc_v2",
              {.address = kHeap + 512 * kMiB, .bytes = 1000, .library = "/lib/libcublas.so.13"});
  ranges.pop();
  call_memory(maker, CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, "cuMemAllocAsync",
              {.address = kHeap + 4096 * kMiB,
               .bytes = 128 * kMiB,
               .library = "/app/libengine.so",
               .pool = kPool,
               .pool_bytes = 160 * kMiB});
  call_memory(maker, CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, "cuMemAllocManaged",
              {.kind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
               .address = kHeap + 8192 * kMiB,
               .bytes = 32 * kMiB,
               .library = "/app/libengine.so"});
  call_mapping(maker, CUPTI_DRIVER_TRACE_CBID_cuMemCreate, "cuMemCreate",
               {.bytes = 256 * kMiB, .handle = kHandle});
  call_mapping(maker, CUPTI_DRIVER_TRACE_CBID_cuMemMap, "cuMemMap",
               {.address = kVirtual, .bytes = 256 * kMiB, .handle = kHandle}, 256 * kMiB);
  call_mapping(maker, CUPTI_DRIVER_TRACE_CBID_cuMemRelease, "cuMemRelease", {.handle = kHandle});
  // Fails: nothing was created.
  call_mapping(maker, CUPTI_DRIVER_TRACE_CBID_cuMemCreate, "cuMemCreate",
               {.bytes = 4096 * kMiB, .handle = kHandle + 1, .result = CUDA_ERROR_OUT_OF_MEMORY});
  maker.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 0, 0, kExecId);
  call_memory(maker, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, "cuMemFree_v2",
              {.operation = kRelease, .address = kHeap + 512 * kMiB, .bytes = 1000});
  set_used(maker, 1700 * kMiB);
  maker.launch(kMain, "kernel_after_loading", kMicrosecond);
  maker.synchronize(kMain);
}

void make_running(TapeMaker& maker) {
  constexpr int64_t kHour = int64_t{3'600'000} * kMillisecond;
  maker.initialize();
  maker.launch(kMain, "kernel_that_ends", kMicrosecond);
  maker.synchronize(kMain);
  maker.launch(kMain, "kernel_that_runs", kHour);
  maker.copy(kMain, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 8, kMicrosecond);
  maker.set(kMain, 8, kMicrosecond);
}

bool read_size(std::string_view argument, Size& size) {
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = argument.substr(0, equals);
  unsigned* const to = name == "--steps"    ? &size.steps
                       : name == "--layers" ? &size.layers
                       : name == "--slower" ? &size.slower
                                            : nullptr;
  const char* const end = argument.data() + argument.size();
  return to != nullptr && std::from_chars(argument.data() + equals + 1, end, *to).ptr == end;
}

int run(const std::vector<std::string_view>& arguments) {
  constexpr size_t kFirstOption = 2;
  Size size;
  bool ok = arguments.size() >= kFirstOption;
  for (size_t i = kFirstOption; ok && i < arguments.size(); ++i) ok = read_size(arguments[i], size);
  if (!ok) {
    std::fputs(
        "make_tape eager|graph|edges|running|memory FILE [--steps=N] [--layers=N] [--slower=N]\n",
        stderr);
    return 2;
  }
  TapeMaker maker(std::string(arguments[1]).c_str());
  if (!maker.writer.open()) {
    std::perror("make_tape: cannot write the tape");
    return 1;
  }
  if (arguments[0] == "eager") make_eager(maker, size);
  if (arguments[0] == "graph") make_graph(maker, size);
  if (arguments[0] == "edges") make_edges(maker);
  if (arguments[0] == "running") make_running(maker);
  if (arguments[0] == "memory") make_memory(maker);
  return 0;
}

}  // namespace
}  // namespace llmprof

int main(int count, char** arguments) { return llmprof::run({arguments + 1, arguments + count}); }
