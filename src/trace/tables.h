#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/collective_kind.h"
#include "base/element_type.h"
#include "base/matrix_layout.h"
#include "base/units.h"
#include "trace/ids.h"
#include "trace/interner.h"

namespace llmprof::trace {

// Times are nanoseconds on the clock of their capture. A column is either empty (the capture does
// not have it) or as long as its table. `columns()` lists all columns, for operations on each.

using Extent = std::array<uint32_t, 3>;

struct LaunchShape {
  Extent grid{};
  Extent block{};
  uint32_t registers_per_thread = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;

  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
  [[nodiscard]] size_t hash() const {
    return hash_mix(0, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                    registers_per_thread, static_shared_bytes, dynamic_shared_bytes);
  }
};

// Where GPU work runs.
struct Queue {
  ProcessId process;
  DeviceId device;
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const Queue&, const Queue&) = default;
  [[nodiscard]] size_t hash() const {
    return hash_mix(process.value, device.value, context, stream);
  }
};

// Kernels with a place in time, ordered by start once the trace is frozen.
struct KernelTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<StringId> name;  // the full name from the capture
  std::vector<ShapeId> shape;
  std::vector<QueueId> queue;
  std::vector<uint32_t> correlation;  // unique only within a process; 0: none
  std::vector<LaunchRow> launch;      // filled when the trace is frozen
  std::vector<uint32_t> graph;        // graph that replayed it; 0: none; empty without graphs
  std::vector<uint64_t> graph_node;   // 0: none; empty without graphs
  std::vector<uint64_t> external_id;  // its operator's; 0: none; empty without operators
  std::vector<uint64_t> flops;        // stated by the program; 0: not stated; empty without any
  std::vector<uint64_t> bytes;        // moved; 0: not stated; empty without any
  // The innermost range open when its graph node was captured: a replayed kernel's layer. None:
  // not replayed, or graph capture was not recorded; empty if no capture has it.
  std::vector<RangeRow> node_range;
  // The call that captured its graph node, if a trace of the graph capture was given; filled after
  // the trace is frozen. None: not replayed, or unknown; empty if no kernel has it.
  std::vector<LaunchRow> node_launch;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() {
    return std::tie(start, end, name, shape, queue, correlation, launch, graph, graph_node,
                    external_id, flops, bytes, node_range, node_launch);
  }
};

enum class MemoryKind : uint8_t { copy, set };

// Where the memory is that a copy reads or writes. Pageable and pinned memory are on the host.
enum class MemoryPlace : uint8_t { unknown, pageable, pinned, host, device, array, managed };

// Copies and fills. `detail` is the direction ("Host-to-Device") if known.
struct MemoryOperationTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<uint64_t> bytes;
  std::vector<StringId> detail;
  std::vector<QueueId> queue;
  std::vector<uint32_t> correlation;
  std::vector<LaunchRow> launch;
  std::vector<MemoryKind> kind;
  std::vector<MemoryPlace> from;  // source of a copy; empty if no capture has it
  std::vector<MemoryPlace> to;    // destination of a copy or fill; empty if no capture has it

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() {
    return std::tie(start, end, bytes, detail, queue, correlation, kind, from, to, launch);
  }
};

// Entire graph replays, from a capture that does not show their kernels.
struct GraphReplayTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<QueueId> queue;
  std::vector<uint32_t> graph;
  std::vector<uint32_t> correlation;
  std::vector<LaunchRow> launch;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, queue, graph, correlation, launch); }
};

// CUDA API calls on the CPU: launches, copies, synchronization.
struct LaunchTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<ThreadId> thread;
  std::vector<StringId> api;
  std::vector<uint32_t> correlation;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, thread, api, correlation); }
};

// A program's launches and its waits for the GPU, recorded by our collector without tracing: in
// untraced periods, the times between them are the program's own.
struct HostCallTable {
  enum class Kind : uint8_t { kernel, graph, wait };
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;  // of waits; for launches, their start
  std::vector<ThreadId> thread;
  std::vector<Kind> kind;
  std::vector<uint64_t> handle;  // of the function or graph, in its process; 0 for waits
  bool of_driver = false;        // all launches, seen by the driver; otherwise the runtime's

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, thread, kind, handle); }
};

// A `module` is a framework's call of one (PyTorch's nn.Module), not the program's annotation.
enum class RangeKind : uint8_t { push_pop, start_end, annotation, mark, module };

// NVTX ranges, user annotations and modules. A range that was never closed has end == kOpenEnd.
inline constexpr Nanoseconds kOpenEnd = INT64_MAX;
struct RangeTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<ThreadId> thread;
  std::vector<StringId> domain;  // none: the default domain
  std::vector<StringId> text;
  std::vector<RangeKind> kind;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, thread, domain, text, kind); }
};

// What a program stated about the step it was in: the innermost range of `thread` open at `time`.
struct StepTable {
  enum class Kind : uint8_t { prefill, decode, mixed };
  std::vector<Nanoseconds> time;
  std::vector<ThreadId> thread;
  std::vector<Kind> kind;
  std::vector<uint32_t> batch;   // sequences
  std::vector<uint64_t> tokens;  // over all sequences

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() { return std::tie(time, thread, kind, batch, tokens); }
};

// What a capture says about communication between ranks, in addition to its kernels. A row
// describes the kernel that it names, or the kernels that `thread` launched between `start` and
// `end`.
struct CollectiveTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<ThreadId> thread;
  std::vector<uint64_t> external_id;  // of the kernel's operator, or of the kernel itself; 0: none
  std::vector<uint32_t> correlation;  // of the kernel; 0: none
  std::vector<CollectiveKind> kind;
  std::vector<uint64_t> bytes;       // of one rank's message; 0: not stated
  std::vector<StringId> group;       // the capture's name for it; none: not stated
  std::vector<StringId> members;     // ranks of the group, "0,1,2,3"; none: not stated
  std::vector<uint32_t> group_size;  // 0: not stated
  std::vector<uint64_t> sequence;    // its number within the group; kNoSequence: not stated

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() {
    return std::tie(start, end, thread, external_id, correlation, kind, bytes, group, members,
                    group_size, sequence);
  }
};
inline constexpr uint64_t kNoSequence = UINT64_MAX;

// Matrix products that a capture states: A (m x k) times B (k x n) gives m x n, `batch` times. A
// row describes the kernels whose innermost operator is this call, with its thread, times and id.
struct ProductTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<ThreadId> thread;
  std::vector<uint64_t> external_id;  // of the operator; 0: none
  std::vector<uint64_t> m;
  std::vector<uint64_t> n;
  std::vector<uint64_t> k;
  std::vector<uint64_t> batch;
  std::vector<ElementType> type_a;
  std::vector<ElementType> type_b;
  std::vector<ElementType> type_output;
  std::vector<MatrixLayout> layout_a;
  std::vector<MatrixLayout> layout_b;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() {
    return std::tie(start, end, thread, external_id, m, n, k, batch, type_a, type_b, type_output,
                    layout_a, layout_b);
  }
};

// Operators on the CPU: a framework's, or those that compute there. `external_id` links kernels to
// them; 0: none.
struct OperatorTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<ThreadId> thread;
  std::vector<StringId> name;
  std::vector<uint64_t> external_id;
  std::vector<uint64_t> flops;  // 0: not stated; empty if no capture has it
  std::vector<uint64_t> bytes;  // moved; 0: not stated; empty if no capture has it

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, thread, name, external_id, flops, bytes); }
};

// Hardware counters and sensors of a device over time, ordered by device, metric and start once the
// trace is frozen. A sample's value is the sum or the mean over [start, end), depending on its
// unit; start == end if a sensor was read at an instant.
struct CounterTable {
  std::vector<Nanoseconds> start;
  std::vector<Nanoseconds> end;
  std::vector<DeviceId> device;
  std::vector<MetricId> metric;
  std::vector<double> value;

  [[nodiscard]] size_t size() const { return start.size(); }
  auto columns() { return std::tie(start, end, device, metric, value); }
};

// What our collector recorded from `time` on, ordered by process and time once the trace is frozen.
// With a duty cycle, launches and kernels are intentionally missing while it is not tracing.
enum class TracingState : uint8_t { detached, paused, tracing, stood_down };
enum class TracingReason : uint8_t {
  none,
  program_start,
  duty,
  budget,
  arm_range,
  step_limit,
  command,
  other_subscriber,
  cupti_missing,
  cupti_failed,
  process_end,
  delay
};
struct TracingTable {
  std::vector<Nanoseconds> time;
  std::vector<ProcessId> process;
  std::vector<TracingState> state;
  std::vector<TracingReason> reason;
  std::vector<uint64_t> step;     // steps started so far
  std::vector<Nanoseconds> cost;  // how long the change delayed the program

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() { return std::tie(time, process, state, reason, step, cost); }
};

// Totals per kernel name, from captures without individual launches.
struct KernelSummary {
  CaptureId capture;
  StringId name;
  DeviceId device;  // none: the report does not say
  uint64_t calls = 0;
  Nanoseconds total = 0;
  double median = 0;
  Nanoseconds min = 0;
  Nanoseconds max = 0;
};

// A row of an nsys stats report on ranges, API calls or memory operations.
struct CallSummary {
  enum class Kind : uint8_t { api, range, kernel_in_range, range_on_gpu, memory_operation };
  Kind kind = Kind::api;
  CaptureId capture;
  StringId name;    // the range's text without its domain; none: outside any range
  StringId kernel;  // kernel_in_range only
  uint64_t calls = 0;
  Nanoseconds total = 0;
  StringId domain;               // the range's; none: the default domain
  uint64_t range_instances = 0;  // kernel_in_range only: how often the range was open
};

// Launches that a kernel profiler measured individually: slower than in the program. Launches with
// the same kernel, shape, device and open ranges share one identity, which has their metrics.
struct ProfiledIdentity {
  CaptureId capture;
  StringId name;
  ShapeId shape;
  DeviceId device;
  // The ranges open at the launch, outermost first, joined by '/': "name" in the default domain,
  // "domain@name" in another ("LLM@decode_all/decode_step"); none if no range was open.
  StringId ranges;

  friend bool operator==(const ProfiledIdentity&, const ProfiledIdentity&) = default;
  [[nodiscard]] size_t hash() const {
    return hash_mix(capture.value, name.value, shape.value, device.value, ranges.value);
  }
};

struct ProfiledLaunchTable {
  std::vector<IdentityId> identity;
  std::vector<Nanoseconds> duration;  // kUnknownDuration if the run did not measure it

  [[nodiscard]] size_t size() const { return identity.size(); }
};
inline constexpr Nanoseconds kUnknownDuration = -1;

// A metric's values over the launches of one identity, in the metric's unit.
struct MetricValues {
  IdentityId identity;
  MetricId metric;
  uint64_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
};

struct Metric {
  StringId name;
  StringId unit;  // base unit: byte, ns, %, ...

  friend bool operator==(const Metric&, const Metric&) = default;
  [[nodiscard]] size_t hash() const { return hash_mix(name.value, unit.value); }
};

}  // namespace llmprof::trace
