#include "readers/collector_log/rows.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "readers/collector_log/operator_kernels.h"

namespace llmprof::readers::collector_log {

using wire::RecordType;

Rows::Rows(trace::TraceBuilder& builder, trace::ProcessId process)
    : builder_(builder),
      process_(process),
      first_kernel_(builder.trace().kernels.size()),
      first_launch_(builder.trace().launches.size()),
      first_range_(builder.trace().ranges.size()),
      texts_(builder),
      thread_names_(builder, process, findings_),
      annotations_(builder, findings_),
      launches_(builder, findings_),
      nodes_(findings_),
      devices_(builder, process, findings_),
      counters_(builder, findings_),
      session_(builder, process, findings_) {}

void Rows::add(const DecodedChunks& chunks) {
  chunks.each([&](const ThreadRecords& stretch) {
    if (stretch.begins_chunk) begin_thread(stretch.serial);
    for (const Record& record : stretch.records) add(record);
    if (stretch.any_calls) {
      launches_.add_calls(chunks.calls(), stretch.first_call, stretch.calls_end, thread());
    }
  });
  devices_.add_kernels(chunks.kernels());
  findings_.bad_values += chunks.findings().bad_values;
}

void Rows::add(const Record& record) {
  if (add_to_thread(record) || add_to_devices(record) || add_to_process(record) ||
      add_to_session(record)) {
    return;
  }
  ++findings_.unknown;
}

bool Rows::add_to_thread(const Record& record) {
  switch (record.type) {
    case RecordType::range_push:
      return annotations_.add_push(record, thread()), true;
    case RecordType::range_pop:
      return annotations_.add_pop(record, thread()), true;
    case RecordType::range_start:
      return annotations_.add_start(record, thread()), true;
    case RecordType::range_end:
      return annotations_.add_end(record), true;
    case RecordType::mark:
      return annotations_.add_mark(record, thread()), true;
    case RecordType::step:
      return annotations_.add_step(record, thread()), true;
    case RecordType::cpu_operator:
      return annotations_.add_operator(record, thread()), true;
    case RecordType::collective:
      return annotations_.add_collective(record, thread()), true;
    case RecordType::host_call:
      return launches_.add_host_call(record, thread()), true;
    case RecordType::thread_name:
      return thread_names_.add(record, thread()), true;
    case RecordType::graph_node_created:
      return nodes_.add_created(record, annotations_.innermost(thread())), true;
    case RecordType::graph_node_cloned:
      return nodes_.add_cloned(record), true;
    default:
      return false;
  }
}

bool Rows::add_to_devices(const Record& record) {
  switch (record.type) {
    case RecordType::kernel_definition:
      return devices_.add_kernel_definition(record), true;
    case RecordType::memory_operation:
      return devices_.add_memory_operation(record), true;
    case RecordType::memory_definition:
      return devices_.add_memory_definition(record), true;
    case RecordType::graph_replay:
      return devices_.add_graph_replay(record), true;
    case RecordType::counter_sample:
      return counters_.add_sample(record), true;
    case RecordType::short_counter_sample:
      return counters_.add_short_sample(record), true;
    case RecordType::counter_set:
      return counters_.add_set(record), true;
    default:
      return false;
  }
}

bool Rows::add_to_process(const Record& record) {
  switch (record.type) {
    case RecordType::string:
      return texts_.add(record, findings_), true;
    case RecordType::api_name:
      return launches_.add_name(record), true;
    case RecordType::thread_info:
      return add_thread(record), true;
    case RecordType::dropped:
      return add_dropped(record), true;
    case RecordType::clean_end:
      return add_clean_end(record), true;
    default:
      return false;
  }
}

bool Rows::add_to_session(const Record& record) {
  switch (record.type) {
    case RecordType::cuda_session:
      return session_.add_session(record), true;
    case RecordType::cuda_device:
      return session_.add_device(record), true;
    case RecordType::variable:
      return session_.add_variable(record), true;
    case RecordType::collection:
      return session_.add_collection(record), true;
    case RecordType::waiting:
      return session_.add_waiting(record), true;
    case RecordType::cupti_dropped:
      return session_.add_cupti_dropped(record), true;
    case RecordType::replay_overwritten:
      return devices_.add_overwritten_replay(record), true;
    case RecordType::counters_off:
      return session_.add_counters_off(record), true;
    case RecordType::counters_lost:
      return session_.add_counters_lost(record), true;
    default:
      return false;
  }
}

void Rows::expect(uint64_t times) {
  const auto make_room = [&](auto& table, size_t first) {
    const size_t rows = first + (table.size() - first) * (times + 1);
    const auto of_column = [&](auto& column) {
      if (column.size() == table.size()) column.reserve(rows);
    };
    std::apply([&](auto&... column) { (of_column(column), ...); }, table.columns());
  };
  make_room(builder_.trace().kernels, first_kernel_);
  make_room(builder_.trace().launches, first_launch_);
  make_room(builder_.trace().ranges, first_range_);
}

trace::ThreadId Rows::thread() {
  if (!thread_.valid()) thread_ = builder_.thread(process_, serial_, 0);
  return thread_;
}

void Rows::add_thread(const Record& record) {
  wire::ThreadInfo info{};
  if (!take(record, info, findings_)) return;
  begin_thread(info.serial);
  trace::Thread& described = builder_.thread_info(thread());
  described.tid = info.thread_id;
  described.name = to_printable({info.name, strnlen(info.name, sizeof info.name)});
}

void Rows::add_dropped(const Record& record) {
  wire::Dropped dropped{};
  if (take(record, dropped, findings_)) {
    findings_.dropped = std::max(findings_.dropped, dropped.records);
  }
}

void Rows::add_clean_end(const Record& record) {
  wire::CleanEnd end{};
  if (!take(record, end, findings_)) return;
  findings_.closed = true;
  findings_.chunks_when_closed = end.chunks;
  findings_.dropped = std::max(findings_.dropped, end.dropped);
}

const Findings& Rows::finish() {
  thread_names_.finish(texts_);
  annotations_.finish(texts_);
  launches_.finish(texts_);
  devices_.finish(texts_, nodes_);
  counters_.finish(texts_);
  session_.finish(texts_);
  findings_.rows = annotations_.rows() + launches_.rows() + devices_.rows() + counters_.rows();
  findings_.outer_operators = add_operator_kernels(
      builder_, process_, annotations_.first_operator(), annotations_.collectives(),
      std::max(launches_.largest_correlation(), devices_.largest_correlation()));
  return findings_;
}

}  // namespace llmprof::readers::collector_log
