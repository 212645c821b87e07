#include "readers/collector_log/rows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace llmprof::readers::collector_log {

using wire::RecordType;

void Rows::add(const DecodedChunks& chunks) {
  for (const ThreadRecords& stretch : chunks.stretches()) {
    if (stretch.begins_chunk) begin_thread(stretch.serial);
    for (size_t i = stretch.first_record; i < stretch.records_end; ++i) add(chunks.records()[i]);
    if (stretch.any_calls) {
      launches_.add_calls(chunks.calls(), stretch.first_call, stretch.calls_end, thread());
    }
  }
  devices_.add_kernels(chunks.kernels());
  findings_.bad_values += chunks.findings().bad_values;
}

template <class Payload, auto Part>
void Rows::give(const Record& record) {
  auto& part = this->*Part;
  Payload payload{};
  if constexpr (requires { part.add(payload, thread_); }) {
    const trace::ThreadId by = thread();
    if (take(record, payload, findings_)) part.add(payload, by);
  } else if constexpr (requires { part.add(payload, record.payload); }) {
    if (take(record, payload, findings_)) part.add(payload, record.payload.subspan(sizeof payload));
  } else if constexpr (requires { part.add(payload, trace::RangeRow()); }) {
    const trace::RangeRow innermost = annotations_.innermost(thread());
    if (take(record, payload, findings_)) part.add(payload, innermost);
  } else {
    if (take(record, payload, findings_)) part.add(payload);
  }
}

void Rows::add(const Record& record) {
  using Add = void (Rows::*)(const Record&);
  static constexpr auto kAdd = [] {
    std::array<Add, static_cast<size_t>(RecordType::end)> table{};
    const auto set = [&](RecordType type, Add add) { table.at(static_cast<size_t>(type)) = add; };
    set(RecordType::range_push, &Rows::give<wire::RangePush, &Rows::annotations_>);
    set(RecordType::range_pop, &Rows::give<wire::RangePop, &Rows::annotations_>);
    set(RecordType::range_start, &Rows::give<wire::RangeStart, &Rows::annotations_>);
    set(RecordType::range_end, &Rows::give<wire::RangeEnd, &Rows::annotations_>);
    set(RecordType::mark, &Rows::give<wire::Mark, &Rows::annotations_>);
    set(RecordType::step, &Rows::give<wire::Step, &Rows::annotations_>);
    set(RecordType::cpu_operator, &Rows::give<wire::CpuOperator, &Rows::annotations_>);
    set(RecordType::collective, &Rows::give<wire::Collective, &Rows::annotations_>);
    set(RecordType::thread_name, &Rows::give<wire::ThreadName, &Rows::annotations_>);
    set(RecordType::host_call, &Rows::give<wire::HostCall, &Rows::launches_>);
    set(RecordType::api_name, &Rows::give<wire::ApiName, &Rows::launches_>);
    set(RecordType::graph_node_created, &Rows::give<wire::GraphNodeCreated, &Rows::devices_>);
    set(RecordType::graph_node_cloned, &Rows::give<wire::GraphNodeCloned, &Rows::devices_>);
    set(RecordType::kernel_definition, &Rows::give<wire::KernelDefinition, &Rows::devices_>);
    set(RecordType::memory_definition, &Rows::give<wire::MemoryDefinition, &Rows::devices_>);
    set(RecordType::memory_operation, &Rows::give<wire::MemoryOperation, &Rows::devices_>);
    set(RecordType::graph_replay, &Rows::give<wire::GraphReplay, &Rows::devices_>);
    set(RecordType::replay_overwritten, &Rows::give<wire::ReplayOverwritten, &Rows::devices_>);
    set(RecordType::counter_set, &Rows::give<wire::CounterSet, &Rows::counters_>);
    set(RecordType::counter_sample, &Rows::give<wire::CounterSample, &Rows::counters_>);
    set(RecordType::short_counter_sample, &Rows::give<wire::ShortCounterSample, &Rows::counters_>);
    set(RecordType::string, &Rows::give<wire::Text, &Rows::texts_>);
    set(RecordType::cuda_session, &Rows::give<wire::CudaSession, &Rows::session_>);
    set(RecordType::cuda_device, &Rows::give<wire::CudaDevice, &Rows::session_>);
    set(RecordType::variable, &Rows::give<wire::Variable, &Rows::session_>);
    set(RecordType::collection, &Rows::give<wire::Collection, &Rows::session_>);
    set(RecordType::waiting, &Rows::give<wire::Waiting, &Rows::session_>);
    set(RecordType::cupti_dropped, &Rows::give<wire::CuptiDropped, &Rows::session_>);
    set(RecordType::counters_off, &Rows::give<wire::CountersOff, &Rows::session_>);
    set(RecordType::counters_lost, &Rows::give<wire::CountersLost, &Rows::session_>);
    set(RecordType::dropped, &Rows::give<wire::Dropped, &Rows::session_>);
    set(RecordType::clean_end, &Rows::give<wire::CleanEnd, &Rows::session_>);
    set(RecordType::thread_info, &Rows::add_thread);
    return table;
  }();
  const auto type = static_cast<size_t>(record.type);
  const Add add = type < kAdd.size() ? kAdd.at(type) : nullptr;
  if (add == nullptr) {
    ++findings_.unknown;
  } else {
    (this->*add)(record);
  }
}

void Rows::expect(uint64_t times) {
  const auto make_room = [&](auto& table, size_t first) {
    const size_t rows = first + (table.size() - first) * (times + 1);
    trace::each_column(table, [&](auto& column) {
      if (column.size() == table.size()) column.reserve(rows);
    });
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

const Findings& Rows::finish() {
  annotations_.finish();
  launches_.finish();
  devices_.finish();
  counters_.finish();
  session_.finish();
  findings_.rows = annotations_.rows() + launches_.rows() + devices_.rows() + counters_.rows();
  findings_.outer_operators = add_operator_kernels(
      builder_, process_, annotations_.first_operator(), annotations_.collectives(),
      std::max(launches_.largest_correlation(), devices_.largest_correlation()));
  return findings_;
}

}  // namespace llmprof::readers::collector_log
