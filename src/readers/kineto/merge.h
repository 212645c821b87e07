#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "readers/kineto/rows.h"
#include "readers/kineto/token.h"
#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::readers {

// Finds the process that GPU work belongs to: events name the device, not the process. Usually one
// process has API calls and owns everything; in a trace merged from several, the correlation id
// decides.
class KinetoProcesses {
 public:
  // Uses the API calls, otherwise the operators, from these rows on.
  KinetoProcesses(const trace::Trace& trace, size_t first_launch, size_t first_operator) {
    std::vector<uint64_t> calls(trace.processes.size());
    const auto count = [&](const std::vector<trace::ThreadId>& threads, size_t first) {
      for (size_t i = first; i < threads.size(); ++i) {
        ++calls[trace.threads[threads[i].index()].process.index()];
      }
    };
    const trace::LaunchTable& launches = trace.launches;
    count(launches.thread, first_launch);
    if (launches.size() == first_launch) count(trace.operators.thread, first_operator);
    const auto most = std::max_element(calls.begin(), calls.end());
    if (most == calls.end() || *most == 0) return;
    owner_ = trace::ProcessId(static_cast<size_t>(most - calls.begin()));
    several_ = launches.size() > first_launch &&
               std::count_if(calls.begin(), calls.end(), [](uint64_t n) { return n > 0; }) > 1;
    if (!several_) return;
    for (size_t i = first_launch; i < launches.size(); ++i) {
      if (launches.correlation[i] == 0) continue;
      const trace::ProcessId process = trace.threads[launches.thread[i].index()].process;
      const auto [known, fresh] = by_correlation_.try_emplace(launches.correlation[i], process);
      if (!fresh && known->second != process) known->second = trace::ProcessId();
    }
  }

  // None if the trace has no CPU rows at all.
  [[nodiscard]] trace::ProcessId owner() const { return owner_; }
  [[nodiscard]] bool several() const { return several_; }

  // Counts work that more than one process may have launched; the process with most calls gets it.
  trace::ProcessId owner_of(uint32_t correlation) {
    if (!several_) return owner_;
    const auto known = by_correlation_.find(correlation);
    if (known != by_correlation_.end() && known->second.valid()) return known->second;
    ++ambiguous_;
    return owner_;
  }

  [[nodiscard]] uint64_t ambiguous() const { return ambiguous_; }

 private:
  trace::ProcessId owner_;
  bool several_ = false;
  uint64_t ambiguous_ = 0;
  std::unordered_map<uint32_t, trace::ProcessId> by_correlation_;  // none: ambiguous
};

// Merges the rows that several threads have read into one trace, in the order of the file.
class KinetoMerge {
 public:
  explicit KinetoMerge(trace::TraceBuilder& builder) : builder_(builder) {}

  // Moves the rows out.
  void add(KinetoRows& rows) {
    settle(rows);
    trace::Trace& trace = builder_.trace();
    for (const auto& [row, name] : rows.launched_names) {
      trace.launched_names.emplace_back(trace.launches.size() + row.index(), name);
    }
    trace::append_rows(trace.kernels, rows.kernels);
    trace::append_rows(trace.memory_operations, rows.memory_operations);
    trace::append_rows(trace.launches, rows.launches);
    trace::append_rows(trace.operators, rows.operators);
    trace::append_rows(trace.ranges, rows.annotations);
    trace::append_rows(trace.ranges, rows.modules);
    trace::append_rows(trace.collectives, rows.collectives);
    trace::append_rows(trace.products, rows.products);
    trace::append_rows(trace.tensor_memory, rows.tensor_memory);
    for (const KinetoTaskName& named : rows.task_names) {
      if (named.of_thread) {
        thread_names_[named.task] = named.name;
      } else {
        process_names_[named.task.process.key] = named.name;
      }
    }
    counts_ += rows.counts;
    // An incomplete event within the file is a bad event; at its end it is a truncation.
    if (ends_within_event_) ++counts_.bad;
    ends_within_event_ = rows.ends_within_event;
  }

  // After the last row: finds the process that GPU work belongs to, and names processes and
  // threads.
  void finish() {
    assign_processes();
    name_tasks();
  }

  [[nodiscard]] const KinetoCounts& counts() const { return counts_; }
  // Whether the rows added last ended within an event.
  [[nodiscard]] bool ends_within_event() const { return ends_within_event_; }

 private:
  // Replaces the thread's ids with the trace's, except for queues, which become rows of queues_.
  void settle(KinetoRows& rows) {
    const auto string = [&](std::string_view raw) { return builder_.string(string_meaning(raw)); };
    const auto shape = [&](const trace::LaunchShape& known) { return builder_.shape(known); };
    const auto queue = [&](const KinetoQueue& known) { return queues_.intern(known); };
    const auto thread = [&](const KinetoThread& task) {
      const trace::ProcessId process = builder_.process(task.process.key, task.process.number);
      return builder_.thread(process, task.thread.key, task.thread.number);
    };
    rows.strings.settle_all(string);
    rows.shapes.settle_all(shape);
    rows.queues.settle_all(queue);
    rows.threads.settle_all(thread);
    const auto settle_column = [&]<class Id>(std::vector<Id>& column) {
      if constexpr (std::is_same_v<Id, trace::StringId>) rows.strings.settle(column, string);
      if constexpr (std::is_same_v<Id, trace::ShapeId>) rows.shapes.settle(column, shape);
      if constexpr (std::is_same_v<Id, trace::QueueId>) rows.queues.settle(column, queue);
      if constexpr (std::is_same_v<Id, trace::ThreadId>) rows.threads.settle(column, thread);
    };
    std::apply([&](auto&... table) { (trace::each_column(table, settle_column), ...); },
               rows.tables());
    for (auto& [row, name] : rows.launched_names) name = rows.strings.settle(name, string);
    for (KinetoTaskName& task : rows.task_names) task.name = rows.strings.settle(task.name, string);
  }

  // Until now the queue columns hold rows of queues_.
  void assign_processes() {
    trace::Trace& trace = builder_.trace();
    KinetoProcesses processes(trace, first_launch_, first_operator_);
    const auto place = [&](uint32_t row, trace::ProcessId process) {
      const KinetoQueue& queue = queues_.values()[row];
      return builder_.queue({process, builder_.device(queue.device), queue.context, queue.stream});
    };
    const auto assign = [&](std::vector<trace::QueueId>& column,
                            const std::vector<uint32_t>& correlation, size_t first) {
      if (first == column.size()) return;
      const trace::ProcessId owner =
          processes.owner().valid() ? processes.owner() : builder_.process(0, 0);
      std::vector<trace::QueueId> of_owner(queues_.size());
      for (size_t i = first; i < column.size(); ++i) {
        const uint32_t row = column[i].value;
        const trace::ProcessId process =
            processes.several() ? processes.owner_of(correlation[i]) : owner;
        if (process != owner) {
          column[i] = place(row, process);
          continue;
        }
        if (!of_owner[row].valid()) of_owner[row] = place(row, owner);
        column[i] = of_owner[row];
      }
    };
    assign(trace.kernels.queue, trace.kernels.correlation, first_kernel_);
    assign(trace.memory_operations.queue, trace.memory_operations.correlation,
           first_memory_operation_);
    builder_.diagnostics().warn(
        "kineto_ambiguous_process",
        "kernels and memory operations that several processes of this trace may have launched; "
        "they are counted for the process with the most API calls (analyze the ranks' own traces "
        "instead of a merged one to distinguish them)",
        processes.ambiguous());
  }

  void name_tasks() {
    trace::Trace& trace = builder_.trace();
    const trace::CaptureId capture = builder_.capture_id();
    for (trace::Process& process : trace.processes) {
      if (process.capture != capture) continue;
      const auto name = process_names_.find(process.key);
      if (name != process_names_.end()) process.name = trace.strings[name->second];
    }
    for (trace::Thread& thread : trace.threads) {
      const trace::Process& process = trace.processes[thread.process.index()];
      if (process.capture != capture) continue;
      const auto name = thread_names_.find({{process.key, process.pid}, {thread.key, thread.tid}});
      if (name != thread_names_.end()) thread.name = trace.strings[name->second];
    }
  }

  trace::TraceBuilder& builder_;
  trace::Interner<trace::QueueId, KinetoQueue> queues_;
  KinetoCounts counts_;
  bool ends_within_event_ = false;
  size_t first_kernel_ = builder_.trace().kernels.size();
  size_t first_memory_operation_ = builder_.trace().memory_operations.size();
  size_t first_launch_ = builder_.trace().launches.size();
  size_t first_operator_ = builder_.trace().operators.size();
  struct TaskHash {
    size_t operator()(const KinetoThread& task) const { return task.hash(); }
  };
  std::unordered_map<KinetoThread, trace::StringId, TaskHash> thread_names_;
  std::unordered_map<uint64_t, trace::StringId> process_names_;
};

}  // namespace llmprof::readers
