#pragma once

#include <string_view>
#include <utility>

#include "analysis/budget/budget.h"
#include "trace/builder.h"

namespace llmprof::analysis {

// A hand-made capture with its stages: one process, one thread, one GPU unless a test adds more.
// Everything belongs to the instance (and step) that was added last; after `outside`, to none,
// until `inside`.
class TestTrace {
 public:
  TestTrace() {
    builder_.begin_capture({});
    process_ = builder_.process(1, 1);
    thread_ = builder_.thread(process_, 1, 1);
    other_thread_ = builder_.thread(process_, 2, 2);
  }

  uint32_t stage(std::string_view name) {
    Stage stage;
    stage.name = name;
    stages_.stages.push_back(stage);
    return static_cast<uint32_t>(stages_.stages.size() - 1);
  }
  StageInstance& instance(uint32_t stage, Nanoseconds start, Nanoseconds end) {
    StageInstance instance;
    instance.stage = stage;
    instance.process = process_;
    instance.device = builder_.device(0);
    instance.start = start;
    instance.end = instance.range_end = end;
    instance.first_step = static_cast<uint32_t>(stages_.steps.size());
    stages_.instances.push_back(instance);
    instance_ = InstanceId(stages_.instances.size() - 1);
    step_ = StepId();
    return stages_.instances.back();
  }
  Step& step(Nanoseconds start, Nanoseconds end) {
    Step step;
    step.instance = instance_;
    step.start = start;
    step.end = end;
    stages_.steps.push_back(step);
    ++stages_.instances[instance_.index()].step_count;
    step_ = StepId(stages_.steps.size() - 1);
    return stages_.steps.back();
  }
  void outside() {
    instance_ = InstanceId();
    step_ = StepId();
  }

  void inside(size_t instance) { instance_ = InstanceId(instance); }

  // Adds an API call; returns its correlation.
  uint32_t call(std::string_view api, Nanoseconds start, Nanoseconds end, bool other = false) {
    trace::LaunchTable& launches = builder_.trace().launches;
    launches.start.push_back(start);
    launches.end.push_back(end);
    launches.thread.push_back(other ? other_thread_ : thread_);
    launches.api.push_back(builder_.string(api));
    launches.correlation.push_back(++correlation_);
    return correlation_;
  }
  void kernel(std::string_view name, Nanoseconds start, Nanoseconds end, uint32_t correlation = 0,
              uint32_t device = 0) {
    trace::KernelTable& kernels = builder_.trace().kernels;
    kernels.start.push_back(start);
    kernels.end.push_back(end);
    kernels.name.push_back(builder_.string(name));
    kernels.shape.push_back(builder_.shape({}));
    kernels.queue.push_back(builder_.queue({process_, builder_.device(device), 0, 7}));
    kernels.correlation.push_back(correlation);
    stages_.owners.kernel_instance.push_back(instance_);
    stages_.owners.kernel_step.push_back(step_);
    if (step_.valid()) ++stages_.steps[step_.index()].work.kernel_count;
    if (instance_.valid()) ++stages_.instances[instance_.index()].work.kernel_count;
  }
  // Adds a kernel and its launch call [called, called + 2).
  void launched(std::string_view name, Nanoseconds called, Nanoseconds start, Nanoseconds end) {
    kernel(name, start, end, call("cudaLaunchKernel_v7000", called, called + 2));
  }
  void copy(Nanoseconds start, Nanoseconds end, uint32_t correlation = 0,
            std::string_view direction = "Device-to-Host") {
    trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
    memory.start.push_back(start);
    memory.end.push_back(end);
    memory.bytes.push_back(4);
    memory.detail.push_back(builder_.string(direction));
    memory.queue.push_back(builder_.queue({process_, builder_.device(0), 0, 7}));
    memory.correlation.push_back(correlation);
    memory.kind.push_back(trace::MemoryKind::copy);
    stages_.owners.memory_instance.push_back(instance_);
    stages_.owners.memory_step.push_back(step_);
  }
  void replay(Nanoseconds start, Nanoseconds end, uint32_t correlation) {
    trace::GraphReplayTable& replays = builder_.trace().graph_replays;
    replays.start.push_back(start);
    replays.end.push_back(end);
    replays.queue.push_back(builder_.queue({process_, builder_.device(0), 0, 7}));
    replays.graph.push_back(1);
    replays.correlation.push_back(correlation);
    stages_.owners.replay_instance.push_back(instance_);
    stages_.owners.replay_step.push_back(step_);
  }
  void range(std::string_view text, Nanoseconds start, Nanoseconds end) {
    trace::RangeTable& ranges = builder_.trace().ranges;
    ranges.start.push_back(start);
    ranges.end.push_back(end);
    ranges.thread.push_back(thread_);
    ranges.domain.emplace_back();
    ranges.text.push_back(builder_.string(text));
    ranges.kind.push_back(trace::RangeKind::push_pop);
  }
  void operation(std::string_view name, Nanoseconds start, Nanoseconds end) {
    trace::OperatorTable& operators = builder_.trace().operators;
    operators.start.push_back(start);
    operators.end.push_back(end);
    operators.thread.push_back(thread_);
    operators.name.push_back(builder_.string(name));
    operators.external_id.push_back(0);
  }

  // At `time`, our collector starts or stops tracing; `step`: steps started so far.
  void tracing_changes(Nanoseconds time, bool tracing,
                       trace::TracingReason reason = trace::TracingReason::duty,
                       uint64_t step = 0) {
    trace::TracingTable& table = builder_.trace().tracing_changes;
    table.time.push_back(time);
    table.process.push_back(process_);
    table.state.push_back(tracing ? trace::TracingState::tracing : trace::TracingState::paused);
    table.reason.push_back(reason);
    table.step.push_back(step);
    table.cost.push_back(0);
  }
  // The collector is detached at `time`; its `cost` to the program ends then.
  void detached(Nanoseconds time, Nanoseconds cost,
                trace::TracingReason reason = trace::TracingReason::budget) {
    tracing_changes(time, false, reason);
    builder_.trace().tracing_changes.state.back() = trace::TracingState::detached;
    builder_.trace().tracing_changes.cost.back() = cost;
  }
  // A call noted by the launch interceptor: a launch, whose `end` equals `start`, or a wait.
  void noted(trace::HostCallTable::Kind kind, uint64_t handle, Nanoseconds start, Nanoseconds end) {
    trace::HostCallTable& calls = builder_.trace().host_calls;
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(thread_);
    calls.kind.push_back(kind);
    calls.handle.push_back(handle);
  }
  // The notes are from driver callbacks, not from the launch interceptor.
  void noted_by_driver() { builder_.trace().host_calls.of_driver = true; }
  // The workload's own clock in the control run.
  void workload_time(std::string_view stage, double mean_ms) {
    std::optional<trace::WorkloadMetrics>& workload = builder_.trace().workload;
    if (!workload) workload.emplace();
    workload->stages.push_back({std::string(stage), mean_ms, std::nullopt});
  }
  void counter(std::string_view name, std::string_view unit, Nanoseconds start, Nanoseconds end,
               double value) {
    trace::Trace& trace = builder_.trace();
    trace.counters.start.push_back(start);
    trace.counters.end.push_back(end);
    trace.counters.device.push_back(builder_.device(0));
    trace.counters.metric.push_back(
        trace.metrics.intern({builder_.string(name), builder_.string(unit)}));
    trace.counters.value.push_back(value);
  }
  trace::Device& device() { return builder_.device_info(builder_.device(0)); }

  // GPU work must be added in order of its start, because owners are stored by row.
  const trace::Trace& freeze() {
    trace_ = std::move(builder_).freeze();
    stages_.untraced = UntracedGpuTime(trace_);
    return trace_;
  }
  Budgets budgets() {
    freeze();
    return time_budgets(trace_, stages_, DescribedNames(trace_, rules()), BudgetBasis(trace_));
  }
  static KernelRules rules() {
    const config::ConfText text{"test",
                                "rules:\n"
                                "  - {function: [gemm, gemm2], class: gemm}\n"
                                "  - {function: [attention], class: attention}\n"
                                "  - {function: [norm], class: norm}\n"
                                "  - {function: [mul, add], class: elementwise}\n"
                                "  - {function: [cast], class: copy/cast}\n"
                                "  - {function: [topk], class: sampling/top-k}\n"
                                "  - {function: [all_reduce], class: communication}\n"
                                "traits: {generated: ['^triton_poi_']}\n"};
    return KernelRules::parse({&text, 1}).value();
  }

  // For rows that have no function of their own.
  [[nodiscard]] trace::Trace& table() { return builder_.trace(); }
  [[nodiscard]] trace::ThreadId thread() const { return thread_; }
  [[nodiscard]] const trace::Trace& trace() const { return trace_; }
  [[nodiscard]] const Stages& stages() const { return stages_; }
  [[nodiscard]] Stages& stages() { return stages_; }

 private:
  trace::TraceBuilder builder_;
  trace::ProcessId process_;
  trace::ThreadId thread_;
  trace::ThreadId other_thread_;
  uint32_t correlation_ = 0;
  InstanceId instance_;
  StepId step_;
  Stages stages_;
  trace::Trace trace_;
};

}  // namespace llmprof::analysis
