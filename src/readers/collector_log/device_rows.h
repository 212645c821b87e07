#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/demangle/demangle.h"
#include "readers/collector_log/log_reading.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::collector_log {

inline trace::LaunchShape shape_of(const wire::KernelDefinition& definition) {
  trace::LaunchShape shape;
  std::copy(std::begin(definition.grid), std::end(definition.grid), shape.grid.begin());
  std::copy(std::begin(definition.block), std::end(definition.block), shape.block.begin());
  shape.registers_per_thread = definition.registers_per_thread;
  shape.static_shared_bytes = definition.static_shared_bytes;
  shape.dynamic_shared_bytes = definition.dynamic_shared_bytes;
  return shape;
}

inline bool in_graph(const wire::KernelDefinition& definition) {
  return definition.graph != 0 || definition.graph_node != 0;
}

// Calls use(index, value) for each value that follows a record's head. A count larger than the
// record is counted as bad instead.
template <class Value, class Use>
void each_value(std::span<const char> bytes, uint32_t count, Findings& findings, const Use& use) {
  if (count > bytes.size() / sizeof(Value)) {
    ++findings.bad_values;
    return;
  }
  for (uint32_t place = 0; place < count; ++place) {
    Value value{};
    std::memcpy(&value, bytes.data() + place * sizeof value, sizeof value);
    use(place, value);
  }
}

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
  void add_kernels(const trace::KernelTable& decoded) {
    trace::KernelTable& kernels = builder_.trace().kernels;
    append(decoded.start, 0, decoded.size(), kernels.start);
    append(decoded.end, 0, decoded.size(), kernels.end);
    append(decoded.name, 0, decoded.size(), kernels.name);
    append(decoded.correlation, 0, decoded.size(), kernels.correlation);
  }

  // Queue and kind come from the definition.
  void add(const wire::MemoryOperation& operation) {
    trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
    trace::add_row(memory, operation.start, operation.end, operation.bytes, operation.definition);
    memory.correlation.push_back(operation.correlation);
  }
  void add(const wire::GraphReplay& replay) {
    trace::add_row(builder_.trace().graph_replays, replay.start, replay.end,
                   queue({replay.device, replay.context, replay.stream}), replay.graph,
                   replay.correlation);
  }
  void add(const wire::ReplayOverwritten& replay) { overwritten_.insert(replay.correlation); }
  // A graph node; `range` is the innermost range open on the thread, none: no range was open.
  void add(const wire::GraphNodeCreated& made, trace::RangeRow range) {
    created_.try_emplace(made.node, range);
  }
  void add(const wire::GraphNodeCloned& made) { originals_.try_emplace(made.node, made.original); }

  // Completes every row from its definition: until then, names (of memory operations: details) hold
  // the definitions' keys. Removes and counts rows whose definition is lost, and kernels whose
  // times were overwritten.
  void finish() {
    settle_kernel_kinds();
    settle_kernels();
    settle_memory_operations();
  }

  [[nodiscard]] uint32_t largest_correlation() const {
    const trace::Trace& trace = builder_.trace();
    return std::max({largest_from(trace.kernels.correlation, first_kernel_),
                     largest_from(trace.memory_operations.correlation, first_memory_operation_),
                     largest_from(trace.graph_replays.correlation, first_replay_)});
  }

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
  trace::QueueId queue(const Place& place) {
    return builder_.queue({process_, builder_.device(place.device), place.context, place.stream});
  }
  // The range in which a node was created; a clone has its original's. None for a node that is not
  // in the log.
  // A program clones a graph, and instantiating clones it again; more generations mean damage, as
  // does a cycle.
  [[nodiscard]] std::optional<trace::RangeRow> range_of(uint64_t node) const {
    constexpr int kGenerations = 64;
    std::optional<trace::RangeRow> range;
    for (int i = 0; i < kGenerations; ++i) {
      if (const auto made = created_.find(node); made != created_.end()) range = made->second;
      const auto original = originals_.find(node);
      if (original == originals_.end()) break;
      node = original->second;
    }
    return range;
  }

  void settle_kernel_kinds() {
    for (KernelKind& kind : kernel_kinds_.values()) {
      const wire::KernelDefinition& definition = kind.definition;
      kind.name = readable_name(definition.name);
      kind.shape = builder_.shape(shape_of(definition));
      kind.queue = queue({definition.device, definition.context, definition.stream});
      if (!in_graph(definition)) continue;
      const auto range = range_of(definition.graph_node);
      kind.of_old_graph = !range;
      kind.node_range = range.value_or(trace::RangeRow());
      any_graph_ = true;
      any_node_range_ = any_node_range_ || kind.node_range.valid();
    }
  }

  trace::StringId readable_name(wire::StringKey key) {
    const auto [known, fresh] = readable_names_.try_emplace(key);
    if (!fresh) return known->second;
    const trace::StringId symbol = texts_.find_name(key);
    const auto plain = demangle(texts_.text(symbol));
    known->second = plain ? builder_.string(*plain) : symbol;
    builder_.trace().symbols.emplace_back(known->second, symbol);
    return known->second;
  }

  void settle_kernels() {
    trace::KernelTable& kernels = builder_.trace().kernels;
    const size_t all = kernels.size();
    kernels.shape.resize(all);
    kernels.queue.resize(all);
    if (any_graph_) {
      kernels.graph.resize(all);
      kernels.graph_node.resize(all);
    }
    if (any_node_range_) kernels.node_range.resize(all);
    settle_rows(kernels, first_kernel_, [&](size_t i) {
      const KernelKind* kind = kernel_kinds_.find(kernels.name[i].value);
      if (kind == nullptr) {
        ++findings_.lost_definitions;
        return false;
      }
      if (in_graph(kind->definition) && overwritten_.contains(kernels.correlation[i])) {
        ++findings_.overwritten_kernels;
        return false;
      }
      kernels.name[i] = kind->name;
      kernels.shape[i] = kind->shape;
      kernels.queue[i] = kind->queue;
      if (any_graph_) {
        kernels.graph[i] = kind->definition.graph;
        kernels.graph_node[i] = kind->definition.graph_node;
        if (kind->of_old_graph) ++findings_.kernels_of_old_graphs;
      }
      if (any_node_range_) kernels.node_range[i] = kind->node_range;
      return true;
    });
  }

  void settle_memory_operations() {
    for (MemoryOperationKind& kind : memory_kinds_.values()) {
      kind.detail = builder_.string(
          kind.definition.kind == 0 ? copy_direction(kind.definition.direction) : "fill");
      kind.queue = queue({kind.definition.device, kind.definition.context, kind.definition.stream});
    }
    trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
    const size_t all = memory.size();
    memory.queue.resize(all);
    memory.kind.resize(all);
    settle_rows(memory, first_memory_operation_, [&](size_t i) {
      const MemoryOperationKind* kind = memory_kinds_.find(memory.detail[i].value);
      if (kind == nullptr) {
        ++findings_.lost_definitions;
        return false;
      }
      memory.detail[i] = kind->detail;
      memory.queue[i] = kind->queue;
      memory.kind[i] =
          kind->definition.kind == 0 ? trace::MemoryKind::copy : trace::MemoryKind::set;
      return true;
    });
  }

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
  void add(const wire::CounterSet& head, std::span<const char> values) {
    const uint64_t bad_before = findings_.bad_values;
    CounterSet set;
    set.device = head.device;
    each_value<wire::CounterColumn>(
        values, head.count, findings_,
        [&](uint32_t, const wire::CounterColumn& column) { set.columns.push_back(column); });
    if (findings_.bad_values == bad_before) sets_.try_emplace(head.set, std::move(set));
  }

  void add(const wire::CounterSample& sample, std::span<const char> values) {
    each_value<double>(values, sample.count, findings_,
                       [&](uint32_t place, double value) { add_value(sample, place, value); });
  }
  void add(const wire::ShortCounterSample& sample, std::span<const char> values) {
    const wire::CounterSample as_long = {sample.start, sample.start + sample.duration, sample.set,
                                         sample.count};
    each_value<float>(values, sample.count, findings_, [&](uint32_t place, float value) {
      add_value(as_long, place, double{value});
    });
  }

  // Gives samples their device and metric: until then, these columns hold the set and the index in
  // it. Samples of a lost set are removed and counted.
  void finish() {
    const auto sets = named_sets();
    trace::CounterTable& counters = builder_.trace().counters;
    settle_rows(counters, first_, [&](size_t i) {
      const auto set = sets.find(counters.device[i].value);
      const size_t place = counters.metric[i].index();
      if (set == sets.end() || place >= set->second.metrics.size() ||
          !set->second.metrics[place].valid()) {
        ++findings_.lost_definitions;
        return false;
      }
      counters.device[i] = set->second.device;
      counters.metric[i] = set->second.metrics[place];
      return true;
    });
  }

 private:
  void add_value(const wire::CounterSample& sample, uint32_t place, double value) {
    if (std::isnan(value)) return;
    if (std::isinf(value)) {
      ++findings_.bad_values;
      return;
    }
    trace::add_row(builder_.trace().counters, sample.start, sample.end, sample.set, place, value);
  }

  struct CounterSet {
    uint32_t device = 0;
    std::vector<wire::CounterColumn> columns;
  };
  struct NamedSet {
    trace::DeviceId device;
    std::vector<trace::MetricId> metrics;  // none: its name is lost
  };
  std::map<uint32_t, NamedSet> named_sets() {
    std::map<uint32_t, NamedSet> named;
    for (const auto& [number, set] : sets_) {
      NamedSet& to = named[number];
      to.device = builder_.device(set.device);
      for (const wire::CounterColumn& column : set.columns) {
        const trace::StringId name = texts_.find(column.name);
        const trace::StringId unit = texts_.find(column.unit);
        to.metrics.push_back(name.valid() ? builder_.trace().metrics.intern({name, unit})
                                          : trace::MetricId());
      }
    }
    return named;
  }

  size_t first_ = builder_.trace().counters.size();
  std::map<uint32_t, CounterSet> sets_;
};

}  // namespace llmprof::readers::collector_log
