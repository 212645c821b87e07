// The tables of what ran on the GPU: kernels, memory operations, graph replays.
#include <algorithm>
#include <array>

#include "readers/nsys_sqlite/tables.h"
#include "readers/shared/memory.h"

namespace llmprof::readers {
namespace {

using LocalPlaces = trace::Interner<trace::QueueId, NsysPlace>;

NsysPlace place_of(const RowValues& row, size_t first_column) {
  NsysPlace place;
  place.process = nsys_process_key(static_cast<uint64_t>(row.integer(first_column)));
  place.device = nsys_unsigned(row.integer(first_column + 1));
  place.context = nsys_unsigned(row.integer(first_column + 2));
  place.stream = nsys_unsigned(row.integer(first_column + 3));
  return place;
}

// The queues of places that the threads of a scan met.
class SettledQueues {
 public:
  explicit SettledQueues(NsysReading& reading) : reading_(reading), by_worker_(reading.workers) {}

  trace::QueueId settle(trace::QueueId local, const LocalPlaces& places, unsigned worker) {
    return by_worker_[worker].settle(
        local, [&](trace::QueueId id) { return reading_.places.queue(places[id]); });
  }

 private:
  NsysReading& reading_;
  std::vector<SettledIds<trace::QueueId>> by_worker_;
};

struct KernelScratch {
  trace::Interner<trace::StringId, RawKey> names;
  trace::Interner<trace::ShapeId, trace::LaunchShape> shapes;
  LocalPlaces places;
};

class Kernels final : public NsysColumnTable<trace::KernelTable, KernelScratch> {
 public:
  Kernels(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().kernels, kColumns),
        with_graphs_(reading.schema.has_column(table, "graphNodeId")) {}

  void make_room(size_t rows) override {
    resize_columns(rows, columns_.start, columns_.end, columns_.name, columns_.shape,
                   columns_.queue, columns_.correlation);
    if (with_graphs_) resize_columns(rows, columns_.graph, columns_.graph_node);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    const auto times = nsys_times(row);
    if (!times) return RowUse::bad;
    KernelScratch& local = scratch_[worker];
    columns_.start[i] = times->start;
    columns_.end[i] = times->end;
    columns_.queue[i] = local.places.intern(place_of(row, 2));
    columns_.correlation[i] = nsys_unsigned(row.integer(6));
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
    const KernelScratch& local = scratch_[worker];
    Settled& ids = settled_[worker];
    for (size_t i = first; i < first + count; ++i) {
      columns_.name[i] = ids.names.settle(
          columns_.name[i], [&](trace::StringId id) { return name_of(local.names[id]); });
      columns_.shape[i] = ids.shapes.settle(columns_.shape[i], [&](trace::ShapeId id) {
        return reading_.builder.shape(local.shapes[id]);
      });
      columns_.queue[i] = queues_.settle(columns_.queue[i], local.places, worker);
    }
  }

  // Newer exports always have the columns; most programs use no graphs.
  void deliver() override {
    const auto none = [](uint64_t id) { return id == 0; };
    if (std::all_of(columns_.graph_node.begin(), columns_.graph_node.end(), none) &&
        std::all_of(columns_.graph.begin(), columns_.graph.end(), none)) {
      std::vector<uint64_t>().swap(columns_.graph_node);
      std::vector<uint32_t>().swap(columns_.graph);
    }
    NsysColumnTable::deliver();
  }

  void want_strings(NsysStrings& strings) const override {
    for (const KernelScratch& local : scratch_) {
      for (const RawKey& name : local.names.values()) {
        strings.want(static_cast<int64_t>(name.value));
      }
    }
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

  [[nodiscard]] trace::StringId name_of(const RawKey& name) {
    const trace::StringId id = reading_.strings[static_cast<int64_t>(name.value)];
    return id.valid() ? id : reading_.builder.string("(kernel without a name in the export)");
  }

  struct Settled {
    SettledIds<trace::StringId> names;
    SettledIds<trace::ShapeId> shapes;
  };

  bool with_graphs_;
  SettledQueues queues_{reading_};
  std::vector<Settled> settled_ = std::vector<Settled>(reading_.workers);
};

class MemoryOperations final : public NsysColumnTable<trace::MemoryOperationTable, LocalPlaces> {
 public:
  MemoryOperations(NsysReading& reading, const std::string& table, trace::MemoryKind kind)
      : NsysColumnTable(reading, table, reading.builder.trace().memory_operations, kColumns),
        kind_(kind) {}

  void make_room(size_t rows) override {
    resize_columns(rows, columns_.start, columns_.end, columns_.bytes, columns_.detail,
                   columns_.queue, columns_.correlation, columns_.kind, columns_.from, columns_.to);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    const auto times = nsys_times(row);
    if (!times) return RowUse::bad;
    columns_.start[i] = times->start;
    columns_.end[i] = times->end;
    columns_.queue[i] = scratch_[worker].intern(place_of(row, 2));
    columns_.correlation[i] = nsys_unsigned(row.integer(6));
    columns_.bytes[i] = static_cast<uint64_t>(std::max<int64_t>(0, row.integer(7)));
    columns_.kind[i] = kind_;
    columns_.detail[i] = trace::StringId(static_cast<size_t>(nsys_unsigned(row.integer(8))));
    columns_.from[i] = place_at(row, 9);
    columns_.to[i] = place_at(row, 10);
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    for (size_t i = first; i < first + count; ++i) {
      columns_.queue[i] = queues_.settle(columns_.queue[i], scratch_[worker], worker);
      columns_.detail[i] = reading_.builder.string(
          kind_ == trace::MemoryKind::copy ? copy_direction(columns_.detail[i].value) : "fill");
    }
  }

  void want_strings(NsysStrings&) const override {}

 private:
  static trace::MemoryPlace place_at(const RowValues& row, size_t column) {
    return row.is_null(column) ? trace::MemoryPlace::unknown
                               : nsys_memory_place(row.integer(column));
  }

  static constexpr std::array<std::string_view, 11> kColumns = {
      "start",         "end",   "globalPid", "deviceId", "contextId",      "streamId",
      "correlationId", "bytes", "copyKind",  "srcKind",  "dstKind|memKind"};

  trace::MemoryKind kind_;
  SettledQueues queues_{reading_};
};

class GraphReplays final : public NsysColumnTable<trace::GraphReplayTable, LocalPlaces> {
 public:
  GraphReplays(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().graph_replays, kColumns) {}

  void make_room(size_t rows) override {
    resize_columns(rows, columns_.start, columns_.end, columns_.queue, columns_.graph,
                   columns_.correlation);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    const auto times = nsys_times(row);
    if (!times) return RowUse::bad;
    columns_.start[i] = times->start;
    columns_.end[i] = times->end;
    columns_.queue[i] = scratch_[worker].intern(place_of(row, 2));
    columns_.correlation[i] = nsys_unsigned(row.integer(6));
    columns_.graph[i] = nsys_unsigned(row.integer(7));
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    for (size_t i = first; i < first + count; ++i) {
      columns_.queue[i] = queues_.settle(columns_.queue[i], scratch_[worker], worker);
    }
  }

  void want_strings(NsysStrings&) const override {}

 private:
  static constexpr std::array<std::string_view, 8> kColumns = {
      "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId", "graphId"};

  SettledQueues queues_{reading_};
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
