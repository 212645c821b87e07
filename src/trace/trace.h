#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "trace/allocator.h"
#include "trace/ids.h"
#include "trace/interner.h"
#include "trace/memory_events.h"
#include "trace/name_kinds.h"
#include "trace/requests.h"
#include "trace/tables.h"

namespace llmprof::trace {

// Where a capture comes from. No other metadata of a file is kept: environments hold secrets.
inline constexpr std::string_view kPyTorchTrace = "PyTorch trace";  // a capture's format

struct Capture {
  std::string path;
  std::string format;        // "nsys SQLite", "PyTorch trace", ...
  std::string tool;          // "Nsight Systems"
  std::string tool_version;  // from the file; empty if not stated
  std::string schema_version;
  std::string host;
  std::string driver_version;
  std::string cuda_version;
  std::optional<int64_t> wall_clock_ns;  // Unix time at time 0 of this capture
  std::optional<uint32_t> rank;          // of a distributed job
  std::optional<uint32_t> local_rank;    // among the ranks of its host
  std::optional<uint32_t> world_size;    // ranks of the job
  std::string job;                       // the launcher's job id; empty if unknown
  // Captures with the same domain share a clock (a host's, since boot); `clock_ns` is its value at
  // time 0 of this capture. Empty if a capture does not say.
  std::string clock_domain;
  std::optional<int64_t> clock_ns;
};

// The `tool` of captures in our own log format.
inline constexpr std::string_view kCollectorTool = "llmprof collector";

// A machine's processors are one device, `cpu:0`. Its kernels are the operators that a program
// recorded with our annotation API.
enum class DeviceKind : uint8_t { gpu, cpu };

struct Device {
  CaptureId capture;
  uint32_t ordinal = 0;  // CUDA's number
  std::string name;      // "NVIDIA H200"; empty if unknown
  std::string uuid;
  uint32_t sm_count = 0;
  uint64_t memory_bytes = 0;
  uint64_t memory_bandwidth = 0;  // bytes per second, stated by the driver
  uint64_t clock_hz = 0;
  std::string compute_capability;
  DeviceKind kind = DeviceKind::gpu;
};

struct Process {
  CaptureId capture;
  uint64_t key = 0;  // the capture's own identifier (nsys: globalPid)
  uint64_t pid = 0;
  std::string name;
};

struct Thread {
  ProcessId process;
  uint64_t key = 0;
  uint64_t tid = 0;
  std::string name;
};

// A workload's own measurements, unprofiled (its metrics.json).
struct WorkloadMetrics {
  struct StageTiming {
    std::string name;  // "prefill", "decode", "vision", ...
    double mean_ms = 0;
    std::optional<double> std_ms;
  };
  struct StageMfu {
    std::string name;
    double mfu = 0;  // 0 to 1, computed by the workload
  };
  // The device that the workload says it ran on. The workload measures the peaks on that machine.
  struct Device {
    std::string kind;  // "cpu", "cuda"
    [[nodiscard]] bool is_cpu() const { return kind == "cpu"; }
    std::string name;  // "Neoverse-N1"
    std::optional<uint64_t> threads;
    std::optional<double> peak_flops_per_s;
    std::optional<double> peak_bytes_per_s;
    std::string number_format;  // of the peak: "f32"
    std::string method;         // how the peaks were measured
    std::string peaks_from;     // "this_run", "kept", "both"; empty: not stated
    std::string peaks_measured_at;
    std::optional<double> own_peak_flops_per_s;
    std::optional<double> own_peak_bytes_per_s;
    std::string peaks_note;  // why the run's own peaks were not used or not kept
  };
  std::string path;
  std::vector<StageTiming> stages;
  std::vector<StageMfu> mfu_per_stage;
  std::optional<double> tokens_per_s;
  std::optional<double> mfu_model_level;
  std::optional<double> peak_tflops;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> images;
  std::optional<uint64_t> requests;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> tensor_parallel;  // ranks that share each layer
  std::string model;                        // name; empty if not stated
  std::string model_config;  // the keys of a Hugging Face config.json, as JSON; empty: not stated
  std::optional<Device> device;
};

// Everything captured, frozen: readers fill it through TraceBuilder, analyses only read it.
struct Trace {
  StringPool strings;
  std::vector<Capture> captures;
  std::vector<Device> devices;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  Interner<QueueId, Queue> queues;
  Interner<ShapeId, LaunchShape> shapes;

  // Kernel names as shown, with their mangled symbols if a capture has them.
  std::vector<std::pair<StringId, StringId>> symbols;

  KernelTable kernels;
  MemoryOperationTable memory_operations;
  GraphReplayTable graph_replays;
  LaunchTable launches;
  // The kernel that a call launches, if the capture says so with the call (ROCm does), in the order
  // of the calls.
  std::vector<std::pair<LaunchRow, StringId>> launched_names;
  std::vector<ApiKind> api_kinds;  // by string, for names of calls in `launches`
  HostCallTable host_calls;
  RangeTable ranges;
  StepTable steps;
  CollectiveTable collectives;
  OperatorTable operators;
  ProductTable products;
  CounterTable counters;
  TracingTable tracing_changes;
  MemoryEventTable memory_events;
  MemoryReadingTable memory_readings;
  TensorMemoryTable tensor_memory;
  std::vector<ProfilerMemory> profiler_memory;
  std::vector<ProcessId> memory_by_calls;  // all calls that allocate are recorded

  std::vector<KernelSummary> kernel_summaries;
  std::vector<CallSummary> call_summaries;

  Interner<IdentityId, ProfiledIdentity> identities;
  ProfiledLaunchTable profiled_launches;
  Interner<MetricId, Metric> metrics;
  std::vector<MetricValues> metric_values;  // by identity, then metric

  std::optional<WorkloadMetrics> workload;

  std::vector<RequestFile> request_files;
  RequestTable requests;
  ChunkTable chunks;

  std::vector<AllocatorSnapshot> allocator_snapshots;

  // Python packages whose functions a capture shows on call stacks: "transformers", "vllm".
  std::set<std::string> python_packages;

  Diagnostics diagnostics;

  // Defined once, in trace.cpp: otherwise every unit that copies or destroys a Trace compiles them
  // again.
  Trace();
  Trace(const Trace& other);
  Trace(Trace&& other) noexcept;
  Trace& operator=(const Trace& other);
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  [[nodiscard]] const Device& device_of(QueueId queue) const {
    return devices[queues[queue].device.index()];
  }
  // By the call's name; `other` if the name is unknown.
  [[nodiscard]] ApiKind api_kind(StringId api) const {
    const bool known = api.valid() && api.index() < api_kinds.size();
    return known ? api_kinds[api.index()] : ApiKind::other;
  }
};

}  // namespace llmprof::trace
