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
      annotations_(builder, process, findings_),
      launches_(builder, findings_),
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

template <class Payload, class Target, class... With>
void Rows::give(const Record& record, Target& target, const With&... with) {
  Payload payload{};
  if (take(record, payload, findings_)) target.add(payload, with...);
}

template <class Payload, class Target, class... With>
void Rows::give_list(const Record& record, Target& target, With&... with) {
  Payload head{};
  if (take(record, head, findings_)) target.add(head, record.payload.subspan(sizeof head), with...);
}

void Rows::add(const Record& record) {
  switch (record.type) {
    case RecordType::range_push:
      return give<wire::RangePush>(record, annotations_, thread());
    case RecordType::range_pop:
      return give<wire::RangePop>(record, annotations_, thread());
    case RecordType::range_start:
      return give<wire::RangeStart>(record, annotations_, thread());
    case RecordType::range_end:
      return give<wire::RangeEnd>(record, annotations_);
    case RecordType::mark:
      return give<wire::Mark>(record, annotations_, thread());
    case RecordType::step:
      return give<wire::Step>(record, annotations_, thread());
    case RecordType::cpu_operator:
      return give<wire::CpuOperator>(record, annotations_, thread());
    case RecordType::collective:
      return give<wire::Collective>(record, annotations_, thread());
    case RecordType::thread_name:
      return give<wire::ThreadName>(record, annotations_, thread());
    case RecordType::host_call:
      return give<wire::HostCall>(record, launches_, thread());
    case RecordType::api_name:
      return give<wire::ApiName>(record, launches_);
    case RecordType::graph_node_created:
      return give<wire::GraphNodeCreated>(record, devices_, annotations_.innermost(thread()));
    case RecordType::graph_node_cloned:
      return give<wire::GraphNodeCloned>(record, devices_);
    case RecordType::kernel_definition:
      return give<wire::KernelDefinition>(record, devices_);
    case RecordType::memory_definition:
      return give<wire::MemoryDefinition>(record, devices_);
    case RecordType::memory_operation:
      return give<wire::MemoryOperation>(record, devices_);
    case RecordType::graph_replay:
      return give<wire::GraphReplay>(record, devices_);
    case RecordType::replay_overwritten:
      return give<wire::ReplayOverwritten>(record, devices_);
    case RecordType::counter_set:
      return give_list<wire::CounterSet>(record, counters_);
    case RecordType::counter_sample:
      return give_list<wire::CounterSample>(record, counters_);
    case RecordType::short_counter_sample:
      return give_list<wire::ShortCounterSample>(record, counters_);
    case RecordType::string:
      return give_list<wire::Text>(record, texts_, findings_);
    case RecordType::cuda_session:
      return give<wire::CudaSession>(record, session_);
    case RecordType::cuda_device:
      return give<wire::CudaDevice>(record, session_);
    case RecordType::variable:
      return give<wire::Variable>(record, session_);
    case RecordType::collection:
      return give<wire::Collection>(record, session_);
    case RecordType::waiting:
      return give<wire::Waiting>(record, session_);
    case RecordType::cupti_dropped:
      return give<wire::CuptiDropped>(record, session_);
    case RecordType::counters_off:
      return give<wire::CountersOff>(record, session_);
    case RecordType::counters_lost:
      return give<wire::CountersLost>(record, session_);
    case RecordType::dropped:
      return give<wire::Dropped>(record, session_);
    case RecordType::clean_end:
      return give<wire::CleanEnd>(record, session_);
    case RecordType::thread_info:
      return add_thread(record);
    default:
      ++findings_.unknown;
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
  annotations_.finish(texts_);
  launches_.finish(texts_);
  devices_.finish(texts_);
  counters_.finish(texts_);
  session_.finish(texts_);
  findings_.rows = annotations_.rows() + launches_.rows() + devices_.rows() + counters_.rows();
  findings_.outer_operators = add_operator_kernels(
      builder_, process_, annotations_.first_operator(), annotations_.collectives(),
      std::max(launches_.largest_correlation(), devices_.largest_correlation()));
  return findings_;
}

}  // namespace llmprof::readers::collector_log
