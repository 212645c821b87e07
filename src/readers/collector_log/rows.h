#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "readers/collector_log/device_rows.h"
#include "readers/collector_log/host_rows.h"
#include "readers/collector_log/memory_rows.h"
#include "readers/collector_log/session_facts.h"

namespace llmprof::readers::collector_log {

// Turns the records of one process, in the order of the file, into rows of the trace.
class Rows {
 public:
  Rows(trace::TraceBuilder& builder, trace::ProcessId process)
      : builder_(builder), process_(process), texts_(builder, findings_) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Adds chunks that follow those added before.
  void add(const DecodedChunks& chunks) {
    for (const ThreadRecords& stretch : chunks.stretches) {
      if (stretch.begins_chunk) begin_thread(stretch.serial);
      for (size_t i = stretch.first_record; i < stretch.records_end; ++i) add(chunks.records[i]);
      if (stretch.any_calls) {
        launches_.add_calls(chunks.calls, stretch.first_call, stretch.calls_end, thread());
      }
    }
    devices_.add_kernels(chunks.kernels);
    for (const auto counter :
         {&Findings::damaged_headers, &Findings::damaged_stretches, &Findings::unfinished_chunks,
          &Findings::blank_chunks, &Findings::bad_values}) {
      findings_.*counter += chunks.findings.*counter;
    }
  }

  // Reserves room for `times` the rows of this log so far, and a little more: growing step by step
  // would touch every column's memory twice.
  void expect(uint64_t times) {
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

  // Resolves what may follow its use in the file: names, definitions, ends of ranges.
  const Findings& finish() {
    annotations_.finish();
    launches_.finish();
    devices_.finish();
    counters_.finish();
    memory_.finish();
    session_.finish();
    findings_.rows = all_rows() - rows_before_;
    annotations_.add_operator_kernels(
        std::max(launches_.largest_correlation(), devices_.largest_correlation()));
    return findings_;
  }

 private:
  // The following records belong to the thread with this serial number; a ThreadInfo among them
  // gives details.
  void begin_thread(uint32_t serial) {
    serial_ = serial;
    thread_ = {};
  }
  void add(const Record& record) {
    using wire::RecordType;
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
      set(RecordType::short_counter_sample,
          &Rows::give<wire::ShortCounterSample, &Rows::counters_>);
      set(RecordType::memory_event, &Rows::give<wire::MemoryEvent, &Rows::memory_>);
      set(RecordType::allocation_call, &Rows::give<wire::AllocationCall, &Rows::memory_>);
      set(RecordType::memory_reading, &Rows::give<wire::MemoryReading, &Rows::memory_>);
      set(RecordType::cupti_memory, &Rows::give<wire::CuptiMemory, &Rows::memory_>);
      set(RecordType::memory_calls, &Rows::give<wire::MemoryCalls, &Rows::memory_>);
      set(RecordType::memory_off, &Rows::give<wire::MemoryOff, &Rows::memory_>);
      set(RecordType::string, &Rows::give<wire::Text, &Rows::texts_>);
      set(RecordType::cuda_session, &Rows::give<wire::CudaSession, &Rows::session_>);
      set(RecordType::cuda_device, &Rows::give<wire::CudaDevice, &Rows::session_>);
      set(RecordType::variable, &Rows::give<wire::Variable, &Rows::session_>);
      set(RecordType::tracing_change, &Rows::give<wire::TracingChange, &Rows::session_>);
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

  // The thread of the records being added; created for the first record that needs it.
  trace::ThreadId thread() {
    if (!thread_.valid()) thread_ = builder_.thread(process_, serial_, 0);
    return thread_;
  }
  void add_thread(const Record& record) {
    wire::ThreadInfo info{};
    if (!take(record, info, findings_)) return;
    begin_thread(info.serial);
    trace::Thread& described = builder_.thread_info(thread());
    described.tid = info.thread_id;
    described.name = to_printable({info.name, strnlen(info.name, sizeof info.name)});
  }

  // Passes the payload to a part unless it is too short or not sane, together with the recording
  // thread, the bytes after it, or the innermost range if the part takes them.
  template <class Payload, auto Part>
  void give(const Record& record) {
    auto& part = this->*Part;
    Payload payload{};
    if constexpr (requires { part.add(payload, thread_); }) {
      const trace::ThreadId by = thread();
      if (take(record, payload, findings_)) part.add(payload, by);
    } else if constexpr (requires { part.add(payload, record.payload); }) {
      if (take(record, payload, findings_))
        part.add(payload, record.payload.subspan(sizeof payload));
    } else if constexpr (requires { part.add(payload, trace::RangeRow()); }) {
      const trace::RangeRow innermost = annotations_.innermost(thread());
      if (take(record, payload, findings_)) part.add(payload, innermost);
    } else {
      if (take(record, payload, findings_)) part.add(payload);
    }
  }

  // Of this log and earlier captures.
  [[nodiscard]] size_t all_rows() const {
    const trace::Trace& trace = builder_.trace();
    return trace.ranges.size() + trace.operators.size() + trace.steps.size() +
           trace.launches.size() + trace.kernels.size() + trace.memory_operations.size() +
           trace.graph_replays.size() + trace.counters.size() + trace.memory_events.size();
  }

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  size_t first_kernel_ = builder_.trace().kernels.size();
  size_t first_launch_ = builder_.trace().launches.size();
  size_t first_range_ = builder_.trace().ranges.size();
  size_t rows_before_ = all_rows();
  uint32_t serial_ = 0;
  trace::ThreadId thread_;
  Findings findings_;
  Texts texts_;
  LogReading reading_{builder_, process_, findings_, texts_};
  AnnotationRows annotations_{reading_};
  LaunchRows launches_{reading_};
  DeviceRows devices_{reading_};
  CounterRows counters_{reading_};
  MemoryRows memory_{reading_};
  SessionFacts session_{reading_};
};

}  // namespace llmprof::readers::collector_log
