#include <algorithm>
#include <map>

#include "readers/nsys_sqlite/nccl_ranges.h"
#include "readers/nsys_sqlite/tables.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers {
namespace {

class Kernels final : public NsysColumnTable<trace::KernelTable, 6> {
 public:
  Kernels(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().kernels,
                        "start,end,globalPid,deviceId,contextId,streamId,correlationId,"
                        "demangledName|shortName|mangledName|name,gridX,gridY,gridZ,blockX,blockY,"
                        "blockZ,registersPerThread,staticSharedMemory,dynamicSharedMemory,"
                        "graphNodeId,graphId"),
        with_graphs_(reading.schema.has_column(table, "graphNodeId")) {}

  void make_room(size_t rows) override {
    NsysColumnTable::make_room(rows);
    if (!with_graphs_) return;
    columns_.graph.resize(rows);
    columns_.graph_node.resize(rows);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    NsysLocalIds& local = local_[worker];
    if (!store_gpu_work(row, i, local)) return RowUse::bad;
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

  // Newer exports always have the graph columns; most programs use no graphs.
  void deliver() override {
    const auto none = [](uint64_t id) { return id == 0; };
    if (std::all_of(columns_.graph_node.begin(), columns_.graph_node.end(), none) &&
        std::all_of(columns_.graph.begin(), columns_.graph.end(), none)) {
      std::vector<uint64_t>().swap(columns_.graph_node);
      std::vector<uint32_t>().swap(columns_.graph);
    }
    NsysColumnTable::deliver();
  }

 private:
  void settle_strings(const std::vector<trace::StringId>& /*column*/,
                      std::span<trace::StringId> part, NsysLocalIds& local) override {
    local.names.settle(part, [&](RawKey name) {
      const trace::StringId id = reading_.strings[name];
      return id.valid() ? id : reading_.builder.string("(kernel without a name in the export)");
    });
  }

  bool with_graphs_;
};

class MemoryOperations final : public NsysColumnTable<trace::MemoryOperationTable, 9> {
 public:
  MemoryOperations(NsysReading& reading, const std::string& table, trace::MemoryKind kind)
      : NsysColumnTable(reading, table, reading.builder.trace().memory_operations,
                        "start,end,globalPid,deviceId,contextId,streamId,correlationId,bytes,"
                        "copyKind,srcKind,dstKind|memKind"),
        kind_(kind) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_gpu_work(row, i, local_[worker])) return RowUse::bad;
    columns_.bytes[i] = static_cast<uint64_t>(std::max<int64_t>(0, row.integer(7)));
    columns_.kind[i] = kind_;
    columns_.detail[i] = trace::StringId(static_cast<size_t>(nsys_unsigned(row.integer(8))));
    columns_.from[i] = place_at(row, 9);
    columns_.to[i] = place_at(row, 10);
    return RowUse::stored;
  }

 private:
  void settle_strings(const std::vector<trace::StringId>& /*column*/,
                      std::span<trace::StringId> part, NsysLocalIds& /*local*/) override {
    for (trace::StringId& detail : part) {
      detail = reading_.builder.string(
          kind_ == trace::MemoryKind::copy ? copy_direction(detail.value) : "fill");
    }
  }

  static trace::MemoryPlace place_at(const RowValues& row, size_t column) {
    return row.is_null(column) ? trace::MemoryPlace::unknown
                               : nsys_memory_place(row.integer(column));
  }

  trace::MemoryKind kind_;
};

class GraphReplays final : public NsysColumnTable<trace::GraphReplayTable, 5> {
 public:
  GraphReplays(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().graph_replays,
                        "start,end,globalPid,deviceId,contextId,streamId,correlationId,graphId") {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_gpu_work(row, i, local_[worker])) return RowUse::bad;
    columns_.graph[i] = nsys_unsigned(row.integer(7));
    return RowUse::stored;
  }
};

// CUDA API calls.
class Launches final : public NsysColumnTable<trace::LaunchTable, 5> {
 public:
  Launches(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().launches,
                        "start,end,globalTid,correlationId,nameId|name") {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_times(row, i)) return RowUse::bad;
    NsysLocalIds& local = local_[worker];
    columns_.thread[i] = local.threads.intern({static_cast<uint64_t>(row.integer(2))});
    columns_.correlation[i] = nsys_unsigned(row.integer(3));
    columns_.api[i] = local.names.intern({static_cast<uint64_t>(row.integer(4))});
    return RowUse::stored;
  }
};

// Event types of NVTX_EVENTS that matter here.
enum NvtxEvent : int64_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75 };

struct NvtxDomain {
  uint64_t process = 0;
  int64_t domain = 0;
  friend auto operator<=>(const NvtxDomain&, const NvtxDomain&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(process, static_cast<size_t>(domain));
  }
};

// A text is in the row itself or is an id of the string table (-1: neither).
struct NvtxText {
  std::string text;
  int64_t id = -1;
  size_t place = 0;  // index of its row among all rows
};

struct RangeIds : NsysLocalIds {
  LocalStrings texts;
  LocalIds<trace::StringId, NvtxDomain> domains;
  std::map<NvtxDomain, NvtxText> domain_names;
  std::vector<RawKey> domain_name_ids;                   // of all rows that name a domain
  std::vector<std::pair<RawKey, NcclPayload>> payloads;  // by thread
};

// NVTX ranges.
class Ranges final : public NsysColumnTable<trace::RangeTable, 6, RangeIds> {
 public:
  Ranges(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().ranges,
                        "start,end,eventType,globalTid,domainId,text,textId,binaryData"),
        payloads_(reading.schema) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    RangeIds& local = local_[worker];
    const int64_t type = row.integer(2);
    const auto thread = static_cast<uint64_t>(row.integer(3));
    const NvtxDomain domain{nsys_process_key(thread), row.integer(4)};
    if (type == kDomainCreate) {
      NvtxText name{std::string(row.text(5)), row.is_null(6) ? -1 : row.integer(6), i};
      if (name.text.empty() && name.id >= 0) {
        local.domain_name_ids.push_back({static_cast<uint64_t>(name.id)});
      }
      local.domain_names[domain] = std::move(name);
      return RowUse::skipped;
    }
    if (type != kPushPop && type != kStartEnd && type != kMark) return RowUse::skipped;
    const auto start = row.number(0);
    const auto end = row.number(1);
    if (!start || (!end && !row.is_null(1))) return RowUse::bad;
    columns_.start[i] = *start;
    columns_.end[i] = end.value_or(trace::kOpenEnd);
    columns_.kind[i] = trace::RangeKind::push_pop;
    if (type == kStartEnd) columns_.kind[i] = trace::RangeKind::start_end;
    if (type == kMark) {
      columns_.kind[i] = trace::RangeKind::mark;
      columns_.end[i] = columns_.start[i];
    }
    if (columns_.end[i] < columns_.start[i]) return RowUse::bad;
    columns_.thread[i] = local.threads.intern({thread});
    columns_.domain[i] = domain.domain == 0 ? trace::StringId() : local.domains.intern(domain);
    // Until settled, an even number is a text of the row, an odd one an id of the string table.
    columns_.text[i] = trace::StringId();
    if (!row.is_null(5)) {
      columns_.text[i] = trace::StringId(local.texts.intern(row.text(5)).index() * 2);
    } else if (!row.is_null(6)) {
      const RawKey id{static_cast<uint64_t>(row.integer(6))};
      columns_.text[i] = trace::StringId(local.names.intern(id).index() * 2 + 1);
    }
    if (!row.is_null(7)) {
      if (auto payload = payloads_.read(row.text(7))) {
        payload->start = *start;
        payload->place = i;
        local.payloads.emplace_back(RawKey{thread}, *payload);
      }
    }
    return RowUse::stored;
  }

  void want_strings(NsysStrings& strings) const override {
    NsysColumnTable::want_strings(strings);
    for (const RangeIds& local : local_) strings.want(local.domain_name_ids);
  }

  void deliver() override {
    std::vector<NcclPayload> payloads;
    for (RangeIds& local : local_) {
      for (auto& [thread, payload] : local.payloads) {
        payload.thread = nsys_thread(reading_.builder, thread.value);
        payloads.push_back(payload);
      }
    }
    add_nccl_collectives(columns_, std::move(payloads), reading_.builder);
    NsysColumnTable::deliver();
  }

 private:
  void settle_strings(const std::vector<trace::StringId>& column, std::span<trace::StringId> part,
                      RangeIds& local) override {
    if (&column == &columns_.domain) {
      return local.domains.settle(part,
                                  [&](const NvtxDomain& domain) { return domain_name(domain); });
    }
    for (trace::StringId& text : part) {
      if (!text.valid()) continue;
      const trace::StringId id(text.index() / 2);
      text = text.index() % 2 == 0
                 ? local.texts.settle(
                       id, [&](std::string_view own) { return reading_.builder.string(own); })
                 : local.names.settle(id, [&](RawKey key) { return reading_.strings[key]; });
    }
  }

  // Any thread of the scan may have read the row that names the domain; of several rows, the last
  // counts.
  trace::StringId domain_name(const NvtxDomain& domain) {
    const NvtxText* last = nullptr;
    for (const RangeIds& local : local_) {
      const auto known = local.domain_names.find(domain);
      if (known == local.domain_names.end()) continue;
      if (last == nullptr || known->second.place > last->place) last = &known->second;
    }
    if (last != nullptr && !last->text.empty()) return reading_.builder.string(last->text);
    const trace::StringId name =
        last == nullptr ? trace::StringId() : reading_.strings[{static_cast<uint64_t>(last->id)}];
    if (name.valid()) return name;
    return reading_.builder.string("domain " + std::to_string(domain.domain));
  }

  NcclPayloads payloads_;
};

using Tables = std::vector<std::unique_ptr<NsysTable>>;

template <class Table>
void add_if_present(std::string_view name, NsysReading& reading, Tables& tables, auto... kind) {
  const auto table = reading.schema.find(name);
  if (table) tables.push_back(std::make_unique<Table>(reading, *table, kind...));
}

}  // namespace

Tables nsys_tables(NsysReading& reading) {
  using trace::MemoryKind;
  Tables tables;
  add_if_present<Kernels>("CUPTI_ACTIVITY_KIND_KERNEL", reading, tables);
  add_if_present<Launches>("CUPTI_ACTIVITY_KIND_RUNTIME", reading, tables);
  add_if_present<MemoryOperations>("CUPTI_ACTIVITY_KIND_MEMCPY", reading, tables, MemoryKind::copy);
  add_if_present<MemoryOperations>("CUPTI_ACTIVITY_KIND_MEMSET", reading, tables, MemoryKind::set);
  add_if_present<GraphReplays>("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", reading, tables);
  add_if_present<Ranges>("NVTX_EVENTS", reading, tables);
  return tables;
}

}  // namespace llmprof::readers
