#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "readers/collector_log/decoded_chunks.h"
#include "readers/collector_log/records.h"
#include "trace/append.h"
#include "trace/builder.h"
#include "wire/cuda_records.h"

namespace llmprof::readers::collector_log {

// What the parts of a log share while it is read.
struct LogReading {
  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  Texts& texts_;
};

// Calls `settle(row)` to complete the rows from `first` on, and removes those that it rejects.
template <class Table, class Settle>
void settle_rows(Table& table, size_t first, const Settle& settle) {
  size_t kept = first;
  for (size_t i = first; i < table.size(); ++i) {
    if (!settle(i)) continue;
    if (kept < i) {
      trace::each_column(table, [&](auto& column) {
        if (i < column.size()) column[kept] = column[i];
      });
    }
    ++kept;
  }
  trace::each_column(table, [&](auto& column) {
    if (column.size() > kept) column.resize(kept);
  });
}

// The operators that are collectives, in the order of the collective rows from `first` on.
struct CollectiveOperators {
  size_t first = 0;
  std::vector<size_t> operators;  // rows
};

// Turns the CPU operators from row `first` on, all of one process, into kernels of the device
// cpu:0, each launched by its own thread at its own start, so that analyses treat them like a GPU's
// kernels. Of nested operators only the innermost are kernels: their time counts once. Collectives
// get the correlations of their kernels. `last_correlation` is the largest that the process's CUDA
// calls have. Returns how many operators contain others.
uint64_t add_operator_kernels(trace::TraceBuilder& builder, trace::ProcessId process, size_t first,
                              const CollectiveOperators& collectives, uint32_t last_correlation);

// A program's annotations: ranges, marks, steps, CPU operators and collectives, each with the
// thread that recorded it, and thread names.
class AnnotationRows : LogReading {
 public:
  explicit AnnotationRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::RangePush& push, trace::ThreadId thread);
  void add(const wire::RangePop& pop, trace::ThreadId thread);
  void add(const wire::RangeStart& start, trace::ThreadId thread);
  void add(const wire::RangeEnd& end) { ends_.push_back(end); }
  void add(const wire::Mark& mark, trace::ThreadId thread);
  void add(const wire::Step& step, trace::ThreadId thread);
  void add(const wire::CpuOperator& call, trace::ThreadId thread);
  // Also adds an operator.
  void add(const wire::Collective& call, trace::ThreadId thread);
  // `by` is the thread that gave the name, to itself or to another thread.
  void add(const wire::ThreadName& name, trace::ThreadId by) { names_.emplace_back(by, name); }

  // The thread's most recently opened push/pop range that is still open, in any domain.
  [[nodiscard]] trace::RangeRow innermost(trace::ThreadId thread) const;

  // Ends ranges and resolves names: until then, text columns hold the log's own keys.
  void finish();

  [[nodiscard]] size_t first_operator() const { return first_operator_; }
  [[nodiscard]] const CollectiveOperators& collectives() const { return collectives_; }
  [[nodiscard]] size_t rows() const;

 private:
  // Ranges are nested within a thread and a domain.
  using OpenRows = std::vector<size_t>;  // by depth

  OpenRows& open_rows(trace::ThreadId thread, wire::StringKey domain);
  void end_started_ranges();
  void name_threads();

  trace::RangeTable& ranges_ = builder_.trace().ranges;
  size_t first_range_ = ranges_.size();
  size_t first_step_ = builder_.trace().steps.size();
  size_t first_operator_ = builder_.trace().operators.size();
  CollectiveOperators collectives_{builder_.trace().collectives.size(), {}};
  std::unordered_map<trace::ThreadId, std::unordered_map<wire::StringKey, OpenRows>> open_;
  trace::ThreadId last_thread_;  // the last lookup: thread, domain
  wire::StringKey last_domain_ = 0;
  OpenRows* last_open_ = nullptr;                 // and its rows
  std::unordered_map<uint64_t, size_t> started_;  // rows, by range
  std::vector<wire::RangeEnd> ends_;
  std::vector<std::pair<trace::ThreadId, wire::ThreadName>>
      names_;  // with the thread that gave them
};

// CUDA API calls, each with the thread that made it.
class LaunchRows : LogReading {
 public:
  explicit LaunchRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::ApiName& named) { names_.add(named.code, {named.name, {}}); }
  // Rows [first, end) of decoded calls.
  void add_calls(const trace::LaunchTable& calls, size_t first, size_t end, trace::ThreadId thread);

  // A call noted by the launch interceptor.
  void add(const wire::HostCall& call, trace::ThreadId thread);

  // Resolves the calls' names: until then, they hold the log's codes.
  void finish();

  [[nodiscard]] size_t rows() const { return builder_.trace().launches.size() - first_; }
  [[nodiscard]] uint32_t largest_correlation() const;

 private:
  struct Api {
    wire::StringKey key = 0;
    trace::StringId name;
  };

  size_t first_ = builder_.trace().launches.size();
  Definitions<Api> names_;
};

// GPU work: kernels, memory operations and entire graph replays.
class DeviceRows : LogReading {
 public:
  explicit DeviceRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::KernelDefinition& definition) {
    kernel_kinds_.add(definition.key, {.definition = definition});
  }
  void add(const wire::MemoryDefinition& definition) {
    memory_kinds_.add(definition.key, {.definition = definition});
  }
  void add_kernels(const trace::KernelTable& decoded);
  void add(const wire::MemoryOperation& operation);
  void add(const wire::GraphReplay& replay);
  void add(const wire::ReplayOverwritten& replay) { overwritten_.insert(replay.correlation); }
  // A graph node; `range` is the innermost range open on the thread, none: no range was open.
  void add(const wire::GraphNodeCreated& made, trace::RangeRow range) {
    created_.try_emplace(made.node, range);
  }
  void add(const wire::GraphNodeCloned& made) { originals_.try_emplace(made.node, made.original); }

  // Completes every row from its definition: until then, names (of memory operations: details) hold
  // the definitions' keys. Removes and counts rows whose definition is lost, and kernels whose
  // times were overwritten.
  void finish();

  [[nodiscard]] size_t rows() const;
  [[nodiscard]] uint32_t largest_correlation() const;

 private:
  // A definition from the log and, once settled, its values in the trace.
  struct KernelKind {
    wire::KernelDefinition definition{};
    trace::StringId name = {};
    trace::ShapeId shape = {};
    trace::QueueId queue = {};
    trace::RangeRow node_range = {};
    bool of_old_graph = false;  // its node's creation is not in the log
  };
  struct MemoryOperationKind {
    wire::MemoryDefinition definition{};
    trace::StringId detail = {};
    trace::QueueId queue = {};
  };

  struct Place {
    uint32_t device;
    uint32_t context;
    uint32_t stream;
  };
  trace::QueueId queue(const Place& place);
  // The range in which a node was created; a clone has its original's. None for a node that is not
  // in the log.
  [[nodiscard]] std::optional<trace::RangeRow> range_of(uint64_t node) const;
  void settle_kernel_kinds();
  trace::StringId readable_name(wire::StringKey key);
  void settle_kernels();
  void settle_memory_operations();

  size_t first_kernel_ = builder_.trace().kernels.size();
  size_t first_memory_operation_ = builder_.trace().memory_operations.size();
  size_t first_replay_ = builder_.trace().graph_replays.size();
  Definitions<KernelKind> kernel_kinds_;
  Definitions<MemoryOperationKind> memory_kinds_;
  std::unordered_map<wire::StringKey, trace::StringId> readable_names_;
  std::unordered_set<uint32_t> overwritten_;               // correlations
  std::unordered_map<uint64_t, trace::RangeRow> created_;  // nodes
  std::unordered_map<uint64_t, uint64_t> originals_;       // of clones
  bool any_graph_ = false;
  bool any_node_range_ = false;
};

// Samples of hardware counters and sensors: one row per value.
class CounterRows : LogReading {
 public:
  explicit CounterRows(const LogReading& reading) : LogReading(reading) {}

  // `values` are the bytes after the record's head.
  void add(const wire::CounterSet& head, std::span<const char> values);
  void add(const wire::CounterSample& sample, std::span<const char> values);
  void add(const wire::ShortCounterSample& sample, std::span<const char> values);

  // Gives samples their device and metric: until then, these columns hold the set and the index in
  // it. Samples of a lost set are removed and counted.
  void finish();

  [[nodiscard]] size_t rows() const { return builder_.trace().counters.size() - first_; }

 private:
  void add_value(const wire::CounterSample& sample, uint32_t place, double value);

  struct Set {
    uint32_t device = 0;
    std::vector<wire::CounterColumn> columns;
  };
  struct Named {
    trace::DeviceId device;
    std::vector<trace::MetricId> metrics;  // none: its name is lost
  };
  std::map<uint32_t, Named> named_sets();

  size_t first_ = builder_.trace().counters.size();
  std::map<uint32_t, Set> sets_;
};

// What a log says about the process, its GPUs and when it was recording.
class SessionFacts : LogReading {
 public:
  explicit SessionFacts(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::CudaSession& session);
  void add(const wire::CudaDevice& record);
  void add(const wire::Variable& variable) { variables_.push_back(variable); }
  void add(const wire::Collection& change);
  void add(const wire::Waiting& waiting) { waiting_ = waiting; }
  void add(const wire::CuptiDropped& dropped) { findings_.cupti_dropped += dropped.records; }
  void add(const wire::CountersOff& off) { counters_off_.push_back(off); }
  void add(const wire::CountersLost& lost) { findings_.counters_lost += lost.times; }
  void add(const wire::Dropped& dropped);
  void add(const wire::CleanEnd& end);

  // Processes what needs the log's strings.
  void finish();

 private:
  void note_driver_and_cupti();
  void note_never_armed();
  void note_counters_off();
  void find_place_in_job();

  std::vector<wire::CudaSession> sessions_;
  std::optional<wire::Waiting> waiting_;
  bool armed_ = false;  // or arming was attempted
  std::vector<wire::Variable> variables_;
  std::vector<wire::CountersOff> counters_off_;
};

// Turns the records of one process, in the order of the file, into rows of the trace.
class Rows {
 public:
  Rows(trace::TraceBuilder& builder, trace::ProcessId process)
      : builder_(builder), process_(process), texts_(builder, findings_) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Adds chunks that follow those added before.
  void add(const DecodedChunks& chunks);
  // Reserves room for `times` the rows of this log so far, and a little more: growing step by step
  // would touch every column's memory twice.
  void expect(uint64_t times);
  // Resolves what may follow its use in the file: names, definitions, ends of ranges.
  const Findings& finish();

 private:
  // The following records belong to the thread with this serial number; a ThreadInfo among them
  // gives details.
  void begin_thread(uint32_t serial) {
    serial_ = serial;
    thread_ = {};
  }
  void add(const Record& record);
  // The thread of the records being added; created for the first record that needs it.
  trace::ThreadId thread();
  void add_thread(const Record& record);
  // Passes the payload to a part unless it is too short or not sane, together with the recording
  // thread, the bytes after it, or the innermost range if the part takes them.
  template <class Payload, auto Part>
  void give(const Record& record);

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  size_t first_kernel_ = builder_.trace().kernels.size();
  size_t first_launch_ = builder_.trace().launches.size();
  size_t first_range_ = builder_.trace().ranges.size();
  uint32_t serial_ = 0;
  trace::ThreadId thread_;
  Findings findings_;
  Texts texts_;
  LogReading reading_{builder_, process_, findings_, texts_};
  AnnotationRows annotations_{reading_};
  LaunchRows launches_{reading_};
  DeviceRows devices_{reading_};
  CounterRows counters_{reading_};
  SessionFacts session_{reading_};
};

}  // namespace llmprof::readers::collector_log
