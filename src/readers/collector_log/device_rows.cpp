#include "readers/collector_log/device_rows.h"

#include <algorithm>

#include "base/demangle/demangle.h"
#include "readers/shared/memory.h"
#include "wire/cuda_records.h"

namespace llmprof::readers::collector_log {
namespace {

bool is_sane(const wire::GraphNodeCreated& made) { return made.node != 0; }
bool is_sane(const wire::GraphNodeCloned& made) {
  return made.node != 0 && made.original != 0 && made.node != made.original;
}

// So far from both ends of time that a batch's kernels are times too.
constexpr Nanoseconds kLatestBase = trace::kOpenEnd - (int64_t{1} << 34U);

bool is_sane(const wire::KernelDefinition& told) { return told.key != 0; }
bool is_sane(const wire::MemoryDefinition& told) { return told.key != 0 && told.kind <= 1; }
bool is_sane(const wire::KernelBatch& batch) { return batch.base >= 0 && batch.base < kLatestBase; }
bool is_sane(const wire::LongKernel& kernel) {
  return kernel.definition != 0 && is_interval(kernel.start, kernel.end);
}
bool is_sane(const wire::MemoryOperation& operation) {
  return operation.definition != 0 && is_interval(operation.start, operation.end);
}
bool is_sane(const wire::ReplayOverwritten& replay) { return replay.correlation != 0; }
bool is_sane(const wire::GraphReplay& replay) { return is_interval(replay.start, replay.end); }

trace::LaunchShape shape_of(const wire::KernelDefinition& told) {
  trace::LaunchShape shape;
  std::copy(std::begin(told.grid), std::end(told.grid), shape.grid.begin());
  std::copy(std::begin(told.block), std::end(told.block), shape.block.begin());
  shape.registers_per_thread = told.registers_per_thread;
  shape.static_shared_bytes = told.static_shared_bytes;
  shape.dynamic_shared_bytes = told.dynamic_shared_bytes;
  return shape;
}

bool in_graph(const wire::KernelDefinition& told) {
  return told.graph != 0 || told.graph_node != 0;
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

void GraphNodes::add_created(const Record& record, trace::RangeRow range) {
  wire::GraphNodeCreated made{};
  if (take(record, made, findings_, is_sane)) created_.try_emplace(made.node, range);
}

void GraphNodes::add_cloned(const Record& record) {
  wire::GraphNodeCloned made{};
  if (take(record, made, findings_, is_sane)) originals_.try_emplace(made.node, made.original);
}

// A program clones a graph, and instantiating clones it again; more generations are damage, as is a
// circle.
std::optional<trace::RangeRow> GraphNodes::range_of(uint64_t node) const {
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
  if (!take(record, batch, findings, is_sane)) return;
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
  if (!take(record, kernel, findings, is_sane)) return;
  kernels.start.push_back(kernel.start);
  kernels.end.push_back(kernel.end);
  kernels.name.emplace_back(kernel.definition);
  kernels.correlation.push_back(kernel.correlation);
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

void DeviceRows::add_kernel_definition(const Record& record) {
  KernelKind kind;
  if (take(record, kind.told, findings_, is_sane)) kernel_kinds_.add(kind.told.key, kind);
}

void DeviceRows::add_kernels(const trace::KernelTable& decoded) {
  trace::KernelTable& kernels = builder_.trace().kernels;
  append(decoded.start, 0, decoded.size(), kernels.start);
  append(decoded.end, 0, decoded.size(), kernels.end);
  append(decoded.name, 0, decoded.size(), kernels.name);
  append(decoded.correlation, 0, decoded.size(), kernels.correlation);
}

void DeviceRows::add_memory_definition(const Record& record) {
  MemoryOperationKind kind;
  if (take(record, kind.told, findings_, is_sane)) memory_kinds_.add(kind.told.key, kind);
}

void DeviceRows::add_memory_operation(const Record& record) {
  wire::MemoryOperation operation{};
  if (!take(record, operation, findings_, is_sane)) return;
  trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
  memory.start.push_back(operation.start);
  memory.end.push_back(operation.end);
  memory.bytes.push_back(operation.bytes);
  memory.detail.emplace_back(operation.definition);
  memory.correlation.push_back(operation.correlation);
}

void DeviceRows::add_graph_replay(const Record& record) {
  wire::GraphReplay replay{};
  if (!take(record, replay, findings_, is_sane)) return;
  trace::GraphReplayTable& replays = builder_.trace().graph_replays;
  replays.start.push_back(replay.start);
  replays.end.push_back(replay.end);
  replays.queue.push_back(queue({replay.device, replay.context, replay.stream}));
  replays.graph.push_back(replay.graph);
  replays.correlation.push_back(replay.correlation);
}

void DeviceRows::add_overwritten_replay(const Record& record) {
  wire::ReplayOverwritten replay{};
  if (take(record, replay, findings_, is_sane)) overwritten_.insert(replay.correlation);
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

void DeviceRows::settle_kernel_kinds(Texts& texts, const GraphNodes& nodes) {
  for (KernelKind& kind : kernel_kinds_.values()) {
    const wire::KernelDefinition& told = kind.told;
    kind.name = readable_name(told.name, texts);
    kind.shape = builder_.shape(shape_of(told));
    kind.queue = queue({told.device, told.context, told.stream});
    if (!in_graph(told)) continue;
    const auto range = nodes.range_of(told.graph_node);
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
    if (in_graph(kind->told) && overwritten_.contains(kernels.correlation[i])) {
      ++findings_.overwritten_kernels;
      continue;
    }
    if (kept < i) {
      kernels.start[kept] = kernels.start[i];
      kernels.end[kept] = kernels.end[i];
      kernels.correlation[kept] = kernels.correlation[i];
    }
    kernels.name[kept] = kind->name;
    kernels.shape[kept] = kind->shape;
    kernels.queue[kept] = kind->queue;
    if (any_graph_) {
      kernels.graph[kept] = kind->told.graph;
      kernels.graph_node[kept] = kind->told.graph_node;
      if (kind->of_old_graph) ++findings_.kernels_of_old_graphs;
    }
    if (any_node_range_) kernels.node_range[kept] = kind->node_range;
    ++kept;
  }
  shorten(kernels, kept);
}

void DeviceRows::settle_memory_operations() {
  for (MemoryOperationKind& kind : memory_kinds_.values()) {
    kind.detail =
        builder_.string(kind.told.kind == 0 ? copy_direction(kind.told.direction) : "fill");
    kind.queue = queue({kind.told.device, kind.told.context, kind.told.stream});
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
    memory.start[kept] = memory.start[i];
    memory.end[kept] = memory.end[i];
    memory.bytes[kept] = memory.bytes[i];
    memory.correlation[kept] = memory.correlation[i];
    memory.detail[kept] = kind->detail;
    memory.queue[kept] = kind->queue;
    memory.kind[kept] = kind->told.kind == 0 ? trace::MemoryKind::copy : trace::MemoryKind::set;
    ++kept;
  }
  shorten(memory, kept);
}

void DeviceRows::finish(Texts& texts, const GraphNodes& nodes) {
  settle_kernel_kinds(texts, nodes);
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
