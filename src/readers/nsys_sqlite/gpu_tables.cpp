// Tables of GPU work: kernels, memory operations, graph replays.
#include <algorithm>
#include <array>

#include "readers/nsys_sqlite/tables.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers {
namespace {

using LocalPlaces = LocalIds<trace::QueueId, NsysPlace>;

NsysPlace place_of(const RowValues& row, size_t first_column) {
  NsysPlace place;
  place.process = nsys_process_key(static_cast<uint64_t>(row.integer(first_column)));
  place.device = nsys_unsigned(row.integer(first_column + 1));
  place.context = nsys_unsigned(row.integer(first_column + 2));
  place.stream = nsys_unsigned(row.integer(first_column + 3));
  return place;
}

// What the tables of GPU work have in common. Their rows start with times, place and correlation.
template <class Columns, class Scratch, size_t Filled>
class GpuTable : public NsysColumnTable<Columns, Scratch, Filled> {
 public:
  using NsysColumnTable<Columns, Scratch, Filled>::NsysColumnTable;

 protected:
  bool store_common(const RowValues& row, size_t i, LocalPlaces& places) {
    if (!this->store_times(row, i)) return false;
    this->columns_.queue[i] = places.intern(place_of(row, 2));
    this->columns_.correlation[i] = nsys_unsigned(row.integer(6));
    return true;
  }

  void settle_queues(size_t first, size_t count, LocalPlaces& places) {
    places.settle(std::span(this->columns_.queue).subspan(first, count),
                  [&](const NsysPlace& place) { return this->reading_.places.queue(place); });
  }
};

struct KernelScratch {
  LocalIds<trace::StringId, RawKey> names;
  LocalIds<trace::ShapeId, trace::LaunchShape> shapes;
  LocalPlaces places;
};

class Kernels final : public GpuTable<trace::KernelTable, KernelScratch, 6> {
 public:
  Kernels(NsysReading& reading, const std::string& table)
      : GpuTable(reading, table, reading.builder.trace().kernels, kColumns),
        with_graphs_(reading.schema.has_column(table, "graphNodeId")) {}

  void make_room(size_t rows) override {
    GpuTable::make_room(rows);
    if (!with_graphs_) return;
    columns_.graph.resize(rows);
    columns_.graph_node.resize(rows);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    KernelScratch& local = scratch_[worker];
    if (!store_common(row, i, local.places)) return RowUse::bad;
    columns_.name[i] = local.names.intern({static_cast<uint64_t>(row.integer(7))});
    trace::LaunchShape shape;
    for (size_t axis = 0; axis < 3; ++axis) {
      shape.grid[axis] = nsys_unsigned(row.integer(8 + axis));
      shape.block[axis] = nsys_unsigned(row.integer(11 + axis));
    }
    shape.registers_per_thread = nsys_unsigned(row.integer(14));
    shape.static_shared_bytes = nsys_unsigned(row.integer(15));
    shape.dynamic_shared_bytes = nsys_unsigned(row.integer(16));
    columns_.shape[i] = local.shapes.intern(shape);
    if (with_graphs_) {
      columns_.graph_node[i] = static_cast<uint64_t>(row.integer(17));
      columns_.graph[i] = nsys_unsigned(row.integer(18));
    }
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    KernelScratch& local = scratch_[worker];
    local.names.settle(std::span(columns_.name).subspan(first, count),
                       [&](RawKey name) { return name_of(name); });
    local.shapes.settle(
        std::span(columns_.shape).subspan(first, count),
        [&](const trace::LaunchShape& shape) { return reading_.builder.shape(shape); });
    settle_queues(first, count, local.places);
  }

  // Newer exports always have the graph columns; most programs use no graphs.
  void deliver() override {
    const auto none = [](uint64_t id) { return id == 0; };
    if (std::all_of(columns_.graph_node.begin(), columns_.graph_node.end(), none) &&
        std::all_of(columns_.graph.begin(), columns_.graph.end(), none)) {
      std::vector<uint64_t>().swap(columns_.graph_node);
      std::vector<uint32_t>().swap(columns_.graph);
    }
    GpuTable::deliver();
  }

  void want_strings(NsysStrings& strings) const override {
    for (const KernelScratch& local : scratch_) strings.want(local.names.values().values());
  }

 private:
  static constexpr std::array<std::string_view, 19> kColumns = {
      "start",
      "end",
      "globalPid",
      "deviceId",
      "contextId",
      "streamId",
      "correlationId",
      "demangledName|shortName|mangledName|name",
      "gridX",
      "gridY",
      "gridZ",
      "blockX",
      "blockY",
      "blockZ",
      "registersPerThread",
      "staticSharedMemory",
      "dynamicSharedMemory",
      "graphNodeId",
      "graphId"};

  [[nodiscard]] trace::StringId name_of(RawKey name) {
    const trace::StringId id = reading_.strings[name];
    return id.valid() ? id : reading_.builder.string("(kernel without a name in the export)");
  }

  bool with_graphs_;
};

class MemoryOperations final : public GpuTable<trace::MemoryOperationTable, LocalPlaces, 9> {
 public:
  MemoryOperations(NsysReading& reading, const std::string& table, trace::MemoryKind kind)
      : GpuTable(reading, table, reading.builder.trace().memory_operations, kColumns),
        kind_(kind) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_common(row, i, scratch_[worker])) return RowUse::bad;
    columns_.bytes[i] = static_cast<uint64_t>(std::max<int64_t>(0, row.integer(7)));
    columns_.kind[i] = kind_;
    columns_.detail[i] = trace::StringId(static_cast<size_t>(nsys_unsigned(row.integer(8))));
    columns_.from[i] = place_at(row, 9);
    columns_.to[i] = place_at(row, 10);
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    settle_queues(first, count, scratch_[worker]);
    for (size_t i = first; i < first + count; ++i) {
      columns_.detail[i] = reading_.builder.string(
          kind_ == trace::MemoryKind::copy ? copy_direction(columns_.detail[i].value) : "fill");
    }
  }

 private:
  static trace::MemoryPlace place_at(const RowValues& row, size_t column) {
    return row.is_null(column) ? trace::MemoryPlace::unknown
                               : nsys_memory_place(row.integer(column));
  }

  static constexpr std::array<std::string_view, 11> kColumns = {
      "start",         "end",   "globalPid", "deviceId", "contextId",      "streamId",
      "correlationId", "bytes", "copyKind",  "srcKind",  "dstKind|memKind"};

  trace::MemoryKind kind_;
};

class GraphReplays final : public GpuTable<trace::GraphReplayTable, LocalPlaces, 5> {
 public:
  GraphReplays(NsysReading& reading, const std::string& table)
      : GpuTable(reading, table, reading.builder.trace().graph_replays, kColumns) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_common(row, i, scratch_[worker])) return RowUse::bad;
    columns_.graph[i] = nsys_unsigned(row.integer(7));
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    settle_queues(first, count, scratch_[worker]);
  }

 private:
  static constexpr std::array<std::string_view, 8> kColumns = {
      "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId", "graphId"};
};

}  // namespace

std::unique_ptr<NsysTable> nsys_kernel_table(NsysReading& reading, const std::string& table) {
  return std::make_unique<Kernels>(reading, table);
}

std::unique_ptr<NsysTable> nsys_memory_table(NsysReading& reading, const std::string& table,
                                             trace::MemoryKind kind) {
  return std::make_unique<MemoryOperations>(reading, table, kind);
}

std::unique_ptr<NsysTable> nsys_graph_replay_table(NsysReading& reading, const std::string& table) {
  return std::make_unique<GraphReplays>(reading, table);
}

}  // namespace llmprof::readers
