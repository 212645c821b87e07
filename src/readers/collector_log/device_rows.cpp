#include "readers/collector_log/rows.h"

#include <algorithm>

#include "base/demangle/demangle.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::collector_log {
namespace {

trace::LaunchShape shape_of(const wire::KernelDefinition& definition) {
  trace::LaunchShape shape;
  std::copy(std::begin(definition.grid), std::end(definition.grid), shape.grid.begin());
  std::copy(std::begin(definition.block), std::end(definition.block), shape.block.begin());
  shape.registers_per_thread = definition.registers_per_thread;
  shape.static_shared_bytes = definition.static_shared_bytes;
  shape.dynamic_shared_bytes = definition.dynamic_shared_bytes;
  return shape;
}

bool in_graph(const wire::KernelDefinition& definition) {
  return definition.graph != 0 || definition.graph_node != 0;
}

uint32_t largest_from(const std::vector<uint32_t>& values, size_t first) {
  uint32_t largest = 0;
  for (size_t i = first; i < values.size(); ++i) largest = std::max(largest, values[i]);
  return largest;
}

trace::HostCallTable::Kind kind_of(wire::HostCallKind kind) {
  using Kind = trace::HostCallTable::Kind;
  switch (kind) {
    case wire::HostCallKind::graph:
    case wire::HostCallKind::driver_graph:
      return Kind::graph;
    case wire::HostCallKind::wait:
    case wire::HostCallKind::driver_wait:
      return Kind::wait;
    case wire::HostCallKind::kernel:
    case wire::HostCallKind::driver_kernel:
      break;
  }
  return Kind::kernel;
}

// Appends rows [first, end) of one column to another.
template <class Value>
void append(const std::vector<Value>& from, size_t first, size_t end, std::vector<Value>& to) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
            from.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

void LaunchRows::add_calls(const trace::LaunchTable& calls, size_t first, size_t end,
                           trace::ThreadId thread) {
  trace::LaunchTable& launches = builder_.trace().launches;
  append(calls.start, first, end, launches.start);
  append(calls.end, first, end, launches.end);
  launches.thread.insert(launches.thread.end(), end - first, thread);
  append(calls.api, first, end, launches.api);
  append(calls.correlation, first, end, launches.correlation);
}

void LaunchRows::add(const wire::HostCall& call, trace::ThreadId thread) {
  trace::HostCallTable& calls = builder_.trace().host_calls;
  trace::add_row(calls, call.start, call.start + call.duration, thread, kind_of(call.kind),
                 call.handle);
  calls.of_driver = calls.of_driver || call.kind >= wire::HostCallKind::driver_kernel;
}

void LaunchRows::finish() {
  for (Api& api : names_.values()) api.name = texts_.find_name(api.key);
  trace::LaunchTable& launches = builder_.trace().launches;
  const trace::StringId lost = builder_.string("(name lost)");
  for (size_t i = first_; i < launches.size(); ++i) {
    const Api* api = names_.find(launches.api[i].value);
    if (api == nullptr) ++findings_.lost_names;
    launches.api[i] = api == nullptr ? lost : api->name;
  }
}

uint32_t LaunchRows::largest_correlation() const {
  return largest_from(builder_.trace().launches.correlation, first_);
}

// A program clones a graph, and instantiating clones it again; more generations mean damage, as
// does a cycle.
std::optional<trace::RangeRow> DeviceRows::range_of(uint64_t node) const {
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

trace::QueueId DeviceRows::queue(const Place& place) {
  return builder_.queue({process_, builder_.device(place.device), place.context, place.stream});
}

void DeviceRows::add_kernels(const trace::KernelTable& decoded) {
  trace::KernelTable& kernels = builder_.trace().kernels;
  append(decoded.start, 0, decoded.size(), kernels.start);
  append(decoded.end, 0, decoded.size(), kernels.end);
  append(decoded.name, 0, decoded.size(), kernels.name);
  append(decoded.correlation, 0, decoded.size(), kernels.correlation);
}

// Queue and kind come from the definition.
void DeviceRows::add(const wire::MemoryOperation& operation) {
  trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
  trace::add_row(memory, operation.start, operation.end, operation.bytes, operation.definition);
  memory.correlation.push_back(operation.correlation);
}

void DeviceRows::add(const wire::GraphReplay& replay) {
  trace::add_row(builder_.trace().graph_replays, replay.start, replay.end,
                 queue({replay.device, replay.context, replay.stream}), replay.graph,
                 replay.correlation);
}

trace::StringId DeviceRows::readable_name(wire::StringKey key) {
  const auto [known, fresh] = readable_names_.try_emplace(key);
  if (!fresh) return known->second;
  const trace::StringId symbol = texts_.find_name(key);
  const auto plain = demangle(texts_.text(symbol));
  known->second = plain ? builder_.string(*plain) : symbol;
  builder_.trace().symbols.emplace_back(known->second, symbol);
  return known->second;
}

void DeviceRows::settle_kernel_kinds() {
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

void DeviceRows::settle_kernels() {
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

void DeviceRows::settle_memory_operations() {
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
    memory.kind[i] = kind->definition.kind == 0 ? trace::MemoryKind::copy : trace::MemoryKind::set;
    return true;
  });
}

void DeviceRows::finish() {
  settle_kernel_kinds();
  settle_kernels();
  settle_memory_operations();
}

size_t DeviceRows::rows() const {
  const trace::Trace& trace = builder_.trace();
  return trace.kernels.size() - first_kernel_ + trace.memory_operations.size() -
         first_memory_operation_ + trace.graph_replays.size() - first_replay_;
}

uint32_t DeviceRows::largest_correlation() const {
  const trace::Trace& trace = builder_.trace();
  return std::max({largest_from(trace.kernels.correlation, first_kernel_),
                   largest_from(trace.memory_operations.correlation, first_memory_operation_),
                   largest_from(trace.graph_replays.correlation, first_replay_)});
}

}  // namespace llmprof::readers::collector_log
