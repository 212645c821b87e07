#include "analysis/operators/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/operators/operator_calls.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// All calls of one framework operator. An operator inside another of the same name adds to `calls`
// and self times but not again to totals, so no total exceeds the elapsed time.
struct OperatorRow {
  std::string_view name;
  uint64_t calls = 0;
  Nanoseconds cpu_total = 0;
  Nanoseconds cpu_self = 0;
  Nanoseconds cuda_total = 0;
  Nanoseconds cuda_self = 0;
  uint64_t kernel_count = 0;  // kernels counted in cuda_total, without copies and fills
  std::optional<double> flops;
  std::optional<double> bytes;
};

// The stack of open operators on one thread. Closed calls are added to the rows, one per name.
class OperatorStack {
 public:
  explicit OperatorStack(std::vector<OperatorRow>& rows)
      : rows_(rows), open_of_name_(rows.size()) {}

  // Whether the following calls were captured into a graph; if so, they count once per replay.
  void captured(bool captured) { captured_ = captured; }
  // Calls come in the order of OperatorCalls. `work` is GPU work known to belong to the call
  // itself.
  void open(const OperatorCall& call, const LaunchedWork& work) {
    advance(call.start);
    stack_.push_back({call.start, call.end, 0, call.name, work, work});
    ++open_of_name_[call.name];
  }
  // Closes calls that have ended by `time`.
  void advance(Nanoseconds time) {
    while (!stack_.empty() && stack_.back().end <= time) close();
  }
  void close_all() {
    while (!stack_.empty()) close();
  }
  // Assigns work to the innermost call; false if none is open.
  bool give(const LaunchedWork& work) {
    if (stack_.empty()) return false;
    stack_.back().own += work;
    stack_.back().all += work;
    return true;
  }

 private:
  struct Open {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    Nanoseconds inner = 0;  // time of the calls directly inside
    uint32_t name = 0;
    LaunchedWork own;
    LaunchedWork all;  // including work of the calls inside
  };
  void close() {
    const Open call = stack_.back();
    stack_.pop_back();
    OperatorRow& row = rows_[call.name];
    // Each replay repeats captured calls without CPU time.
    const Nanoseconds duration = captured_ ? 0 : call.end - call.start;
    row.calls += captured_ ? call.all.replays : 1;
    row.cpu_self += std::max<Nanoseconds>(duration - call.inner, 0);
    row.cuda_self += call.own.time;
    if (--open_of_name_[call.name] == 0) {
      row.cpu_total += duration;
      row.cuda_total += call.all.time;
      row.kernel_count += call.all.kernels;
    }
    if (stack_.empty()) return;
    Open& outer = stack_.back();
    // With a coarse clock, a call may end after the one around it.
    outer.inner += std::min(call.end, outer.end) - call.start;
    outer.all += call.all;
  }

  std::vector<OperatorRow>& rows_;
  std::vector<uint32_t> open_of_name_;
  std::vector<Open> stack_;
  bool captured_ = false;
};

struct NamedWork {
  trace::ProcessId process;
  uint64_t external_id = 0;
  LaunchedWork work;
};

// Kernels whose launch was not recorded but whose operator the capture names.
std::vector<NamedWork> work_without_launch(const trace::Trace& trace) {
  const trace::KernelTable& kernels = trace.kernels;
  std::vector<NamedWork> work;
  if (kernels.external_id.empty()) return work;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.launch[i].valid() || kernels.external_id[i] == 0) continue;
    work.push_back({trace.queues[kernels.queue[i]].process,
                    kernels.external_id[i],
                    {kernels.end[i] - kernels.start[i], 1}});
  }
  return work;
}

// This work by call; empty if there is none.
std::vector<LaunchedWork> work_by_call(const trace::Trace& trace, const OperatorCalls& calls) {
  const std::vector<NamedWork> named = work_without_launch(trace);
  if (named.empty()) return {};
  struct Key {
    trace::ProcessId process;
    uint64_t external_id = 0;
    size_t call = 0;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  for (size_t thread = 0; thread < calls.thread_count(); ++thread) {
    const trace::ThreadId id(thread);
    for (size_t i = calls.first_of(id); i < calls.behind_last_of(id); ++i) {
      if (calls[i].external_id == 0) continue;
      keys.push_back({trace.threads[thread].process, calls[i].external_id, i});
    }
  }
  std::ranges::sort(keys);
  std::vector<LaunchedWork> by_call(calls.size());
  for (const NamedWork& item : named) {
    const Key wanted{item.process, item.external_id, 0};
    const auto found = std::lower_bound(keys.begin(), keys.end(), wanted);
    if (found == keys.end() || found->process != item.process ||
        found->external_id != item.external_id) {
      continue;
    }
    by_call[found->call] += item.work;
  }
  return by_call;
}

trace::CaptureId capture_of(const trace::Trace& trace, trace::ThreadId thread) {
  return trace.processes[trace.threads[thread.index()].process.index()].capture;
}

// By capture: whether it contains only graph captures, so that its own work was removed.
std::vector<bool> captures_of_graphs(const trace::Trace& trace) {
  const trace::KernelTable& kernels = trace.kernels;
  std::vector<bool> found(trace.captures.size(), false);
  for (const trace::LaunchRow launch : kernels.node_launch) {
    if (launch.valid()) {
      found[capture_of(trace, trace.launches.thread[launch.index()]).index()] = true;
    }
  }
  for (const trace::Queue& queue : trace.queues.values()) {
    if (queue.device.valid()) found[trace.devices[queue.device.index()].capture.index()] = false;
  }
  return found;
}

// Fills the rows, one per name; returns the number of kernels assigned to an operator.
uint64_t add_up(const trace::Trace& trace, const OperatorCalls& calls,
                std::vector<OperatorRow>& rows) {
  const WorkOfLaunches launches(trace);
  const std::vector<LaunchedWork> named_work = work_by_call(trace, calls);
  uint64_t kernels = 0;
  for (const LaunchedWork& work : named_work) kernels += work.kernels;
  const std::vector<bool> of_graphs = captures_of_graphs(trace);
  OperatorStack stack(rows);
  for (size_t thread = 0; thread < calls.thread_count(); ++thread) {
    const trace::ThreadId id(thread);
    stack.captured(of_graphs[capture_of(trace, id).index()]);
    size_t call = calls.first_of(id);
    const auto open_until = [&](Nanoseconds time) {
      for (; call < calls.behind_last_of(id) && calls[call].start <= time; ++call) {
        stack.open(calls[call], named_work.empty() ? LaunchedWork() : named_work[call]);
      }
    };
    for (const WorkOfLaunches::Launch& launch : launches.on(id)) {
      open_until(launch.start);
      stack.advance(launch.start);
      if (stack.give(launch.work)) kernels += launch.work.kernels;
    }
    open_until(INT64_MAX);
    stack.close_all();
  }
  return kernels;
}

// Counts kernels in captures that have operators: only these can belong to an operator.
uint64_t kernels_beside_operators(const trace::Trace& trace, const OperatorCalls& calls) {
  std::vector<bool> has_operators(trace.captures.size(), false);
  for (size_t thread = 0; thread < calls.thread_count(); ++thread) {
    const trace::ThreadId id(thread);
    if (calls.first_of(id) == calls.behind_last_of(id)) continue;
    has_operators[capture_of(trace, id).index()] = true;
  }
  // Operators of replayed kernels come from another capture.
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t i = 0; i < kernels.node_launch.size(); ++i) {
    if (!kernels.node_launch[i].valid()) continue;
    has_operators[trace.device_of(kernels.queue[i]).capture.index()] = true;
  }
  std::vector<bool> counts;
  counts.reserve(trace.queues.size());
  for (const trace::Queue& queue : trace.queues.values()) {
    const bool known = queue.device.valid();
    counts.push_back(known && has_operators[trace.devices[queue.device.index()].capture.index()]);
  }
  const auto& queues = trace.kernels.queue;
  return static_cast<uint64_t>(
      std::ranges::count_if(queues, [&](trace::QueueId queue) { return counts[queue.index()]; }));
}

profile::Reasons why_none(const trace::Trace& trace) {
  const bool from_pytorch = std::ranges::find(trace.captures, trace::kPyTorchTrace,
                                              &trace::Capture::format) != trace.captures.end();
  return {make_reason(from_pytorch ? profile::ReasonKind::trace_without_operators
                                   : profile::ReasonKind::no_framework_operators)};
}

// The formats of the captures that recorded operators: "PyTorch trace".
std::string recorders(const trace::Trace& trace) {
  std::vector<bool> recorded(trace.captures.size(), false);
  for (const trace::ThreadId thread : trace.operators.thread) {
    if (thread.valid()) recorded[capture_of(trace, thread).index()] = true;
  }
  std::vector<std::string_view> formats;
  for (size_t i = 0; i < recorded.size(); ++i) {
    const std::string_view format = trace.captures[i].format;
    const bool known = std::ranges::find(formats, format) != formats.end();
    if (recorded[i] && !known) formats.push_back(format);
  }
  return fmt::format("{}", fmt::join(formats, ", "));
}

uint64_t graph_kernels(const trace::Trace& trace) {
  uint64_t count = 0;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    if (replayed_by_graph(trace, i)) ++count;
  }
  return count;
}

uint64_t captured_kernels(const trace::Trace& trace) {
  const auto& launches = trace.kernels.node_launch;
  return static_cast<uint64_t>(std::ranges::count_if(launches, &trace::LaunchRow::valid));
}

void add_recorded(const trace::Trace& trace, std::vector<OperatorRow>& rows) {
  const trace::OperatorTable& table = trace.operators;
  if (table.flops.empty() && table.bytes.empty()) return;
  std::unordered_map<std::string_view, OperatorRow*> by_name;
  for (OperatorRow& row : rows) by_name[row.name] = &row;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto row = by_name.find(trace.strings[table.name[i]]);
    if (row == by_name.end()) continue;
    add_known(row->second->flops, table.flops, i);
    add_known(row->second->bytes, table.bytes, i);
  }
}

profile::Operator operator_of(const OperatorRow& from) {
  const auto per_second = [&](const std::optional<double>& sum) {
    const bool timed = sum && from.cpu_total > 0;
    return timed ? std::optional(*sum / static_cast<double>(from.cpu_total) * kNanosecondsPerSecond)
                 : std::nullopt;
  };
  return {.name = to_printable(from.name),
          .calls = from.calls,
          .cpu_total = to_milliseconds(from.cpu_total),
          .cpu_self = to_milliseconds(from.cpu_self),
          .cuda_total = to_milliseconds(from.cuda_total),
          .cuda_self = to_milliseconds(from.cuda_self),
          .mean = to_milliseconds(static_cast<double>(from.cpu_total) /
                                  static_cast<double>(from.calls)),
          .kernel_count = from.kernel_count,
          .flops = quantity<profile::Flops>(from.flops),
          .bytes = quantity<profile::Bytes>(from.bytes),
          .flops_per_s = quantity<profile::FlopsPerSecond>(per_second(from.flops)),
          .bytes_per_s = quantity<profile::BytesPerSecond>(per_second(from.bytes))};
}

}  // namespace

Operators find_operators(const trace::Trace& trace, const profile::Totals& totals) {
  Operators operators;
  profile::OperatorsFound& found = operators.found;
  found.share_of_gpu_time = share(
      Nanoseconds{0}, totals.kernel_sum_ns.value + to_nanoseconds(totals.memory_operation_sum));
  OperatorCalls calls = OperatorCalls::recorded(trace);
  found.source = recorders(trace);
  if (calls.empty()) {
    calls = OperatorCalls::of_ranges(trace);
    found.source = "NVTX operator ranges (emit_nvtx)";
  }
  if (calls.empty()) {
    found.source.reset();
    found.why_not_reasons = why_none(trace);
    return operators;
  }
  std::vector<OperatorRow> rows(calls.names().size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i].name = calls.names()[i];
  found.kernels_with_operator = add_up(trace, calls, rows);
  // Captured but not replayed.
  std::erase_if(rows, [](const OperatorRow& row) { return row.calls == 0; });
  add_recorded(trace, rows);
  std::ranges::sort(rows, [](const OperatorRow& a, const OperatorRow& b) {
    return std::tie(b.cuda_self, b.cpu_self, a.name) < std::tie(a.cuda_self, a.cpu_self, b.name);
  });
  Nanoseconds launched = 0;
  for (const OperatorRow& row : rows) {
    launched += row.cuda_self;
    operators.rows.push_back(operator_of(row));
  }
  found.kernels = kernels_beside_operators(trace, calls);
  found.kernels_without_operator = found.kernels - found.kernels_with_operator;
  found.kernels_share = share(found.kernels_with_operator, found.kernels);
  found.cuda_self_sum = to_milliseconds(launched);
  const Nanoseconds gpu_time = total_time(trace.kernels) + total_time(trace.memory_operations);
  if (gpu_time > 0) found.share_of_gpu_time = share(launched, gpu_time);
  found.graph_kernels = graph_kernels(trace);
  found.captured_kernels = captured_kernels(trace);
  return operators;
}

}  // namespace llmprof::analysis
