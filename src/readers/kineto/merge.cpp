#include "readers/kineto/merge.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/append.h"
#include "trace/trace.h"

namespace llmprof::readers {
namespace {

// Rules of conf/stages.yaml distinguish module names from the program's own labels by it.
constexpr std::string_view kModuleDomain = "nn.Module";

// Finds whose GPU work it is: the events name the device, not the process. Mostly one process has
// API calls and owns everything; in a trace merged from several, the correlation id decides.
class KinetoProcesses {
 public:
  // Looks at the API calls, else the operators, from these rows on.
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

  // None where the trace has no CPU side at all.
  [[nodiscard]] trace::ProcessId owner() const { return owner_; }
  [[nodiscard]] bool several() const { return several_; }

  // Counts what more than one process may have launched; it goes to the owner of most calls.
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
  std::unordered_map<uint32_t, trace::ProcessId> by_correlation_;  // none: of several
};

}  // namespace

KinetoMerge::KinetoMerge(trace::TraceBuilder& builder, size_t readers)
    : builder_(builder),
      translations_(readers),
      first_kernel_(builder.trace().kernels.size()),
      first_memory_operation_(builder.trace().memory_operations.size()),
      first_launch_(builder.trace().launches.size()),
      first_operator_(builder.trace().operators.size()) {}

void KinetoMerge::add(size_t reader, const KinetoRows& rows) {
  Translation& translation = translations_[reader];
  translate(rows, translation);
  add_kernels(rows, translation);
  add_memory_operations(rows, translation);
  add_calls(rows, translation);
  add_collectives(rows, translation);
  for (const KinetoTaskName& named : rows.task_names) {
    const trace::StringId name = translation.strings[named.name.index()];
    if (named.of_thread) {
      thread_names_[named.task] = name;
    } else {
      process_names_[named.task.process.key] = name;
    }
  }
  counts_ += rows.counts;
  // Broken off in the middle of the file is a bad event; at its end it is a truncation.
  if (ends_within_event_) ++counts_.bad;
  ends_within_event_ = rows.ends_within_event;
}

void KinetoMerge::translate(const KinetoRows& rows, Translation& translation) {
  if (translation.numbering != rows.numbering) translation = {};
  translation.numbering = rows.numbering;
  for (size_t i = translation.strings.size(); i < rows.strings.size(); ++i) {
    translation.strings.push_back(builder_.string(rows.strings.text(i)));
  }
  for (size_t i = translation.shapes.size(); i < rows.shapes.size(); ++i) {
    translation.shapes.push_back(builder_.shape(rows.shapes.values()[i]));
  }
  for (size_t i = translation.queues.size(); i < rows.queues.size(); ++i) {
    translation.queues.push_back(queues_.intern(rows.queues.values()[i]).value);
  }
  for (size_t i = translation.threads.size(); i < rows.threads.size(); ++i) {
    const KinetoThread& task = rows.threads.values()[i];
    const trace::ProcessId process = builder_.process(task.process.key, task.process.number);
    translation.threads.push_back(builder_.thread(process, task.thread.key, task.thread.number));
  }
}

void KinetoMerge::add_kernels(const KinetoRows& rows, const Translation& translation) {
  trace::KernelTable& table = builder_.trace().kernels;
  // Kernels of the captures before, and of windows without, know no graph and no operator.
  const auto add_optional = [](auto& column, size_t row, auto value) {
    if (column.empty() && value == 0) return;
    column.resize(row);
    column.push_back(value);
  };
  for (const KinetoKernel& kernel : rows.kernels) {
    const size_t row = table.size();
    add_optional(table.graph, row, kernel.graph);
    add_optional(table.graph_node, row, kernel.graph_node);
    add_optional(table.external_id, row, kernel.external_id);
    trace::add_row(table, kernel.start, kernel.end, translation.strings[kernel.name.index()],
                   translation.shapes[kernel.shape.index()],
                   translation.queues[kernel.queue.index()], kernel.correlation);
  }
}

void KinetoMerge::add_memory_operations(const KinetoRows& rows, const Translation& translation) {
  trace::MemoryOperationTable& table = builder_.trace().memory_operations;
  // A capture in front may not know them.
  table.from.resize(table.size());
  table.to.resize(table.size());
  for (const KinetoMemoryOperation& operation : rows.memory_operations) {
    trace::add_row(table, operation.start, operation.end, operation.bytes,
                   translation.string(operation.detail),
                   translation.queues[operation.queue.index()], operation.correlation,
                   operation.kind, operation.from, operation.to);
  }
}

void KinetoMerge::add_calls(const KinetoRows& rows, const Translation& translation) {
  const auto add_to = [&](auto& table, const KinetoCall& call, const auto&... more) {
    trace::add_row(table, call.start, call.end, translation.threads[call.thread.index()], more...);
  };
  trace::Trace& trace = builder_.trace();
  for (const KinetoCall& call : rows.launches) {
    add_to(trace.launches, call, translation.string(call.name), call.correlation);
    if (call.kernel.valid()) {
      trace.launched_names.emplace_back(trace.launches.size() - 1, translation.string(call.kernel));
    }
  }
  for (const KinetoCall& call : rows.operators) {
    add_to(trace.operators, call, translation.string(call.name), call.external_id);
  }
  for (const KinetoCall& call : rows.annotations) {
    add_to(trace.ranges, call, trace::StringId(), translation.string(call.name),
           trace::RangeKind::annotation);
  }
  for (const KinetoCall& call : rows.modules) {
    add_to(trace.ranges, call, builder_.string(kModuleDomain), translation.string(call.name),
           trace::RangeKind::module);
  }
}

void KinetoMerge::add_collectives(const KinetoRows& rows, const Translation& translation) {
  trace::CollectiveTable& table = builder_.trace().collectives;
  for (const KinetoCollective& row : rows.collectives) {
    const trace::ThreadId thread =
        row.thread.valid() ? translation.threads[row.thread.index()] : trace::ThreadId();
    trace::add_row(table, row.start, row.end, thread, row.external_id, row.correlation, row.kind,
                   row.bytes, translation.string(row.group), translation.string(row.members),
                   row.group_size, row.sequence);
  }
}

void KinetoMerge::finish() {
  assign_processes();
  name_tasks();
}

// Until now the queue columns hold rows of queues_.
void KinetoMerge::assign_processes() {
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
  if (processes.ambiguous() > 0) {
    builder_.diagnostics().warn(
        "kineto_ambiguous_process",
        "kernels and memory operations that several processes of this trace may have launched; "
        "they are counted for the process with the most API calls (analyze the ranks' own traces "
        "instead of a merged one to tell them apart)",
        processes.ambiguous());
  }
}

void KinetoMerge::name_tasks() {
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

}  // namespace llmprof::readers
