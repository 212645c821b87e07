#include "readers/collector_log/device_rows.h"

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

// The columns that a log's kernels fill before their definitions are known.
void resize_kernels(trace::KernelTable& kernels, size_t rows) {
  kernels.start.resize(rows);
  kernels.end.resize(rows);
  kernels.name.resize(rows);
  kernels.correlation.resize(rows);
}

}  // namespace

// A program clones a graph, and instantiating clones it again; more generations are damage, as is a
// circle.
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

void decode_kernels(const Record& record, trace::KernelTable& kernels, Findings& findings) {
  wire::KernelBatch batch{};
  if (!take(record, batch, findings)) return;
  const std::span<const char> bytes = record.payload.subspan(sizeof batch);
  if (batch.count > bytes.size() / sizeof(wire::Kernel)) {
    ++findings.bad_values;
    return;
  }
  size_t row = kernels.size();
  resize_kernels(kernels, row + batch.count);
  for (uint32_t i = 0; i < batch.count; ++i) {
    wire::Kernel kernel{};
    std::memcpy(&kernel, bytes.data() + i * sizeof kernel, sizeof kernel);
    const Nanoseconds start = batch.base + kernel.start;
    if (start < 0 || kernel.definition == 0) {
      ++findings.bad_values;
      continue;
    }
    kernels.start[row] = start;
    kernels.end[row] = start + kernel.duration;
    kernels.name[row] = trace::StringId(kernel.definition);
    kernels.correlation[row] = kernel.correlation;
    ++row;
  }
  resize_kernels(kernels, row);
}

void decode_long_kernel(const Record& record, trace::KernelTable& kernels, Findings& findings) {
  wire::LongKernel kernel{};
  if (!take(record, kernel, findings)) return;
  resize_kernels(kernels, kernels.size() + 1);
  kernels.start.back() = kernel.start;
  kernels.end.back() = kernel.end;
  kernels.name.back() = trace::StringId(kernel.definition);
  kernels.correlation.back() = kernel.correlation;
}

DeviceRows::DeviceRows(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings)
    : builder_(builder),
      process_(process),
      findings_(findings),
      first_kernel_(builder.trace().kernels.size()),
      first_memory_operation_(builder.trace().memory_operations.size()),
      first_replay_(builder.trace().graph_replays.size()) {}

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

// Queue and kind follow from the definition.
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

trace::StringId DeviceRows::readable_name(wire::StringKey key, Texts& texts) {
  const auto [known, fresh] = readable_names_.try_emplace(key);
  if (!fresh) return known->second;
  const trace::StringId symbol = texts.find_name(key, findings_);
  const auto plain = demangle(texts.text(symbol));
  known->second = plain ? builder_.string(*plain) : symbol;
  builder_.trace().symbols.emplace_back(known->second, symbol);
  return known->second;
}

void DeviceRows::settle_kernel_kinds(Texts& texts) {
  for (KernelKind& kind : kernel_kinds_.values()) {
    const wire::KernelDefinition& definition = kind.definition;
    kind.name = readable_name(definition.name, texts);
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
  size_t kept = first_kernel_;
  for (size_t i = first_kernel_; i < all; ++i) {
    const KernelKind* kind = kernel_kinds_.find(kernels.name[i].value);
    if (kind == nullptr) {
      ++findings_.lost_definitions;
      continue;
    }
    if (in_graph(kind->definition) && overwritten_.contains(kernels.correlation[i])) {
      ++findings_.overwritten_kernels;
      continue;
    }
    if (kept < i) move_row(kernels, i, kept);
    kernels.name[kept] = kind->name;
    kernels.shape[kept] = kind->shape;
    kernels.queue[kept] = kind->queue;
    if (any_graph_) {
      kernels.graph[kept] = kind->definition.graph;
      kernels.graph_node[kept] = kind->definition.graph_node;
      if (kind->of_old_graph) ++findings_.kernels_of_old_graphs;
    }
    if (any_node_range_) kernels.node_range[kept] = kind->node_range;
    ++kept;
  }
  shorten(kernels, kept);
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
  size_t kept = first_memory_operation_;
  for (size_t i = first_memory_operation_; i < all; ++i) {
    const MemoryOperationKind* kind = memory_kinds_.find(memory.detail[i].value);
    if (kind == nullptr) {
      ++findings_.lost_definitions;
      continue;
    }
    if (kept < i) move_row(memory, i, kept);
    memory.detail[kept] = kind->detail;
    memory.queue[kept] = kind->queue;
    memory.kind[kept] =
        kind->definition.kind == 0 ? trace::MemoryKind::copy : trace::MemoryKind::set;
    ++kept;
  }
  shorten(memory, kept);
}

void DeviceRows::finish(Texts& texts) {
  settle_kernel_kinds(texts);
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
