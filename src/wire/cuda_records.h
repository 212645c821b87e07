#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/log_format.h"

// Records of CUDA tracing (CUPTI). Times are on the log's clock, CLOCK_MONOTONIC. Data that repeats
// is defined once and referenced by small numbers (KernelDefinition, MemoryDefinition, ApiName), so
// that a kernel and its launch take 40 bytes.
namespace llmprof::wire {

// Like a string's, a definition may follow its first use in the file. A forked child's log has its
// own keys.
using DefinitionKey = uint32_t;  // from 1; 0: none

inline constexpr size_t kUuidBytes = 16;

// RecordType::cuda_session: once in a log, when CUDA was first seen in the process.
struct CudaSession {
  int64_t time;
  uint32_t driver_version;  // CUDA version from cuDriverGetVersion: 13000
  uint32_t cupti_version;   // from cuptiGetVersion: 130001; 0: CUPTI was not loaded
  StringKey cupti_path;
  StringKey kernel_driver;  // version of NVIDIA's kernel driver: 580.95.05; 0: unknown
};

// RecordType::cuda_device
struct CudaDevice {
  uint32_t ordinal;
  uint32_t sm_count;
  uint64_t memory_bytes;
  uint64_t memory_bandwidth;  // bytes per second, from clock and bus width; 0: unknown
  uint64_t clock_hz;          // maximum SM clock
  uint32_t capability_major;
  uint32_t capability_minor;
  uint8_t uuid[kUuidBytes];
  char name[kNameBytes];
};

// RecordType::variable: an environment variable on the collector's list (ranks of a distributed
// job), never any other; or "process_title", an engine's name for its worker. If a name occurs
// several times, the last value counts.
struct Variable {
  StringKey name;
  StringKey value;
};

// RecordType::tracing_change: what is recorded from `time` on. Launches made while tracing is off,
// and their kernels, are intentionally missing.
enum class TracingState : uint32_t {
  detached = 1,    // CUPTI is not attached: the program runs at its own speed
  paused = 2,      // attached, but no kernel is recorded
  tracing = 3,     // kernels, memory operations and launches are recorded
  stood_down = 4,  // permanently: another tool uses CUPTI, or CUPTI failed
};
enum class TracingReason : uint32_t {
  none = 0,
  program_start = 1,  // armed from the start
  duty = 2,           // alternating windows of steps
  budget = 3,         // the overhead budget allows it, or is spent
  arm_range = 4,      // the range that arms the collector opened or closed
  step_limit = 5,
  command = 6,           // llmprof arm, llmprof disarm
  other_subscriber = 7,  // nsys, ncu, torch.profiler or another tool
  cupti_missing = 8,
  cupti_failed = 9,
  process_end = 10,
  delay = 11,
};
struct TracingChange {
  int64_t time;
  TracingState state;
  TracingReason reason;
  uint64_t step;  // steps started in this process so far
  // Delay of the thread that made the change, ns.
  uint32_t cost_ns;
  uint32_t result;  // CUPTI's result code if the reason is cupti_failed
};

// RecordType::waiting: CUDA was initialized, and the collector records once it is armed. If no
// TracingChange follows, it was never armed.
enum class WaitsFor : uint32_t { command = 1, range = 2, delay = 3 };
struct Waiting {
  int64_t time;
  WaitsFor what;
  StringKey range;  // from LLMPROF_ARM
  uint32_t delay_ms;
  uint32_t reserved;
};

// RecordType::api_name: 8-bit codes of the CUDA functions in Launch records.
struct ApiName {
  StringKey name;
  uint32_t code;
};

// RecordType::launch, among the records of the calling thread: the records before it give its open
// ranges.
inline constexpr unsigned kLaunchDurationBits = 24;
inline constexpr uint32_t kLongestLaunch = (1U << kLaunchDurationBits) - 1;  // ns; longer: ApiCall
struct Launch {
  int64_t start;
  uint32_t duration_and_code;  // ns in the low 24 bits, ApiName::code above
  uint32_t correlation;
};

// RecordType::api_call: synchronizing calls, long launches and, if requested, all calls.
struct ApiCall {
  int64_t start;
  int64_t end;
  uint32_t correlation;
  uint32_t code;  // ApiName::code
};

// RecordType::host_call, among the records of the calling thread: the program's launches and waits,
// recorded without CUPTI, whether or not it is attached. The same call may also be a Launch or an
// ApiCall.
enum class HostCallKind : uint32_t {
  kernel = 1,  // a kernel launch
  graph = 2,   // the launch of a CUDA graph
  wait = 3,    // synchronization, and copies that wait
  // The same from driver callbacks: calls of every library, however it reaches the driver.
  driver_kernel = 4,
  driver_graph = 5,
  driver_wait = 6,
};
struct HostCall {
  int64_t start;
  // This process's handle of the function or graph; for a driver_kernel, a hash of its symbol; for
  // a wait, 0.
  uint64_t handle;
  uint32_t duration;  // of a wait: ns, at most UINT32_MAX; of a launch: 0
  HostCallKind kind;
};

// RecordType::graph_node_created and graph_node_cloned, among the records of the calling thread. A
// node belongs to the ranges open on that thread when it was created, a clone to its original's
// ranges.
struct GraphNodeCreated {
  uint64_t node;
};
struct GraphNodeCloned {
  uint64_t node;
  uint64_t original;
};

// RecordType::kernel_definition
struct KernelDefinition {
  DefinitionKey key;
  StringKey name;  // mangled, from CUPTI
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers_per_thread;
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint32_t device;  // ordinal
  uint32_t context;
  uint32_t stream;
  uint32_t graph;  // graph that replays it; 0: none
  uint32_t reserved;
  uint64_t graph_node;  // 0: none
};

// RecordType::kernels: KernelBatch, then `count` Kernels.
struct KernelBatch {
  int64_t base;  // starts are relative to it
  uint32_t count;
  uint32_t reserved;
};
struct Kernel {
  int32_t start;      // ns from the batch's base
  uint32_t duration;  // ns
  uint32_t correlation;
  DefinitionKey definition;
};
// RecordType::long_kernel: a kernel whose values do not fit in a Kernel.
struct LongKernel {
  int64_t start;
  int64_t end;
  uint32_t correlation;
  DefinitionKey definition;
};

// RecordType::memory_definition
struct MemoryDefinition {
  DefinitionKey key;
  uint32_t kind;       // 0: copy, 1: fill
  uint32_t direction;  // of a copy: CUpti_ActivityMemcpyKind
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t graph;
  uint32_t reserved;
  uint64_t graph_node;
};
// RecordType::memory_operation
struct MemoryOperation {
  int64_t start;
  int64_t end;
  uint64_t bytes;
  uint32_t correlation;
  DefinitionKey definition;
};

// RecordType::graph_replay: an entire replay, if its kernels are not recorded individually.
struct GraphReplay {
  int64_t start;
  int64_t end;
  uint32_t correlation;
  uint32_t graph;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t reserved;
};

// RecordType::replay_overwritten: the kernels of this replay have wrong times, because a later,
// untraced replay of the graph overwrote them.
struct ReplayOverwritten {
  uint32_t correlation;
  uint32_t reserved;
};

// RecordType::cupti_dropped: activity records that CUPTI lost since the previous such record.
struct CuptiDropped {
  int64_t time;
  uint64_t records;
};

// RecordType::counter_set: the columns of the samples that name it. `count` CounterColumns follow.
struct CounterSet {
  uint32_t set;  // from 1
  uint32_t device;
  int64_t period;  // requested ns between samples; 0: irregular
  uint32_t count;
  uint32_t reserved;
};
struct CounterColumn {
  StringKey name;  // "dram__bytes_read.sum", "power"
  StringKey unit;  // "byte", "%", "W", "MHz", "C", "J"
};
// RecordType::counter_sample: `count` doubles follow. Sums cover [start, end), other values are
// means over it; start == end if a value was read at an instant. NaN: not available.
struct CounterSample {
  int64_t start;
  int64_t end;
  uint32_t set;
  uint32_t count;
};

// RecordType::short_counter_sample: a smaller CounterSample, for frequent samples; `count` floats
// follow.
struct ShortCounterSample {
  int64_t start;
  uint32_t duration;  // ns
  uint16_t set;
  uint16_t count;
};

// RecordType::counters_off: why this log has no hardware counters.
struct CountersOff {
  int64_t time;
  StringKey reason;  // a sentence for the user, with the remedy
  uint32_t reserved;
};
// RecordType::counters_lost: samples lost in the hardware's buffer.
struct CountersLost {
  int64_t time;
  uint64_t times;
};

// RecordType::memory_event: memory was allocated or released, or something was done that takes
// memory. Several records may describe one allocation: of virtual memory (create, map), CUPTI
// reports each mapping as an allocation too, with the correlation of the call.
enum class MemoryAction : uint32_t {
  // From CUPTI's records, or by calls (MemoryCalls).
  allocation = 1,
  release = 2,
  pool_created = 3,
  pool_destroyed = 4,
  pool_trimmed = 5,
  // From the driver's functions, after they succeeded: cuMemCreate, ...
  create = 6,
  map = 7,
  unmap = 8,
  release_handle = 9,
  retain_handle = 10,
  // The driver takes memory for these; how much is not stated.
  graph_instantiated = 11,
  module_loaded = 12,  // bytes: the size of its code
};
struct MemoryEvent {
  int64_t time;
  MemoryAction action;
  uint32_t kind;     // of an allocation and its release: CUpti_ActivityMemoryKind; otherwise 0
  uint64_t address;  // of a pool event: the pool's; 0: none
  uint64_t bytes;
  uint64_t owner;            // of create to retain_handle: the handle; otherwise the pool; 0: none
  uint64_t pool_bytes;       // that the pool has; 0: none, or another process's pool
  uint64_t pool_used_bytes;  // of them, those that the program has
  uint32_t device;           // ordinal
  uint32_t context;
  uint32_t stream;       // 0: none
  uint32_t correlation;  // of the call; 0: none
  StringKey library;     // path of the library that called; 0: unknown
  StringKey name;        // of a module's variable; 0: none
};

// RecordType::allocation_call, among the records of the calling thread: the records before it give
// the ranges in which the MemoryEvents with this correlation happened.
struct AllocationCall {
  uint32_t correlation;
  uint32_t reserved;
};

// RecordType::memory_reading: a device's memory according to NVML.
enum class MemoryReadingMoment : uint32_t {
  before_context = 1,  // the program has not used the device yet
  running = 2,
  end = 3,  // the process exits
};
inline constexpr uint64_t kUnknownBytes = UINT64_MAX;
struct MemoryReading {
  int64_t time;
  uint32_t device;  // ordinal
  MemoryReadingMoment moment;
  uint64_t total_bytes;  // free, used and reserved
  uint64_t free_bytes;
  uint64_t used_bytes;
  uint64_t reserved_bytes;  // by the driver; 0 if NVML counts it as used
  uint64_t own_bytes;       // of this process; kUnknownBytes: not available
  uint64_t other_bytes;     // of all other processes; kUnknownBytes: not available
};

// RecordType::cupti_memory: the buffers that CUPTI takes from each GPU's memory.
struct CuptiMemory {
  uint64_t buffer_bytes;
  uint64_t buffers;  // allocated with each context
};

// RecordType::memory_off: why this log has no allocations, or no readings.
struct MemoryOff {
  int64_t time;
  StringKey reason;  // a sentence for the user, with the remedy
  uint32_t reserved;
};

// RecordType::memory_calls: from now on, MemoryEvents come from all calls of the driver, whether or
// not CUPTI is attached.
struct MemoryCalls {
  int64_t time;
};

static_assert(
    fit_the_alignment<CudaSession, CudaDevice, Variable, TracingChange, Waiting, ApiName, Launch,
                      ApiCall, HostCall, GraphNodeCreated, GraphNodeCloned, KernelDefinition,
                      KernelBatch, Kernel, LongKernel, MemoryDefinition, MemoryOperation,
                      GraphReplay, ReplayOverwritten, CuptiDropped, CounterSet, CounterColumn,
                      CounterSample, ShortCounterSample, CountersOff, CountersLost, MemoryEvent,
                      AllocationCall, MemoryReading, CuptiMemory, MemoryOff, MemoryCalls>());
static_assert(record_bytes<Launch>() + sizeof(Kernel) == 40);

}  // namespace llmprof::wire
