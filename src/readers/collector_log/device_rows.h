#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "readers/collector_log/records.h"

namespace llmprof::readers::collector_log {

// Add a record's kernels to `kernels`: times and correlations, and as names the keys of their
// definitions. What is not sane is left out and counted.
void decode_kernels(const Record& record, trace::KernelTable& kernels, Findings& findings);
void decode_long_kernel(const Record& record, trace::KernelTable& kernels, Findings& findings);

// What ran on the GPUs: kernels, memory operations and whole graph replays.
class DeviceRows {
 public:
  DeviceRows(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings);

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
  // Of a graph; `range` is the innermost open on the thread, none: no range was open.
  void add(const wire::GraphNodeCreated& made, trace::RangeRow range) {
    created_.try_emplace(made.node, range);
  }
  void add(const wire::GraphNodeCloned& made) { originals_.try_emplace(made.node, made.original); }

  // Gives every row what its definition says: until then names (of memory operations: details) hold
  // the definitions' keys. Rows whose definition is lost are left out and counted, and kernels
  // whose times were written over.
  void finish(Texts& texts);

  [[nodiscard]] size_t rows() const;
  [[nodiscard]] uint32_t largest_correlation() const;

 private:
  // A definition as the log has it and, once settled, as the trace has it.
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
  // The range in which a node was created; a clone's is its original's. Nothing for a node that the
  // log does not have.
  [[nodiscard]] std::optional<trace::RangeRow> range_of(uint64_t node) const;
  void settle_kernel_kinds(Texts& texts);
  trace::StringId readable_name(wire::StringKey key, Texts& texts);
  void settle_kernels();
  void settle_memory_operations();

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  size_t first_kernel_;
  size_t first_memory_operation_;
  size_t first_replay_;
  Definitions<KernelKind> kernel_kinds_;
  Definitions<MemoryOperationKind> memory_kinds_;
  std::unordered_map<wire::StringKey, trace::StringId> readable_names_;
  std::unordered_set<uint32_t> overwritten_;               // correlations
  std::unordered_map<uint64_t, trace::RangeRow> created_;  // nodes
  std::unordered_map<uint64_t, uint64_t> originals_;       // of clones
  bool any_graph_ = false;
  bool any_node_range_ = false;
};

}  // namespace llmprof::readers::collector_log
