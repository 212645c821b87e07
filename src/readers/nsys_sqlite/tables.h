#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "readers/nsys_sqlite/sqlite_file.h"
#include "readers/shared/local_ids.h"
#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::readers {

// A value as stored in the file, before it has an id of the trace.
struct RawKey {
  uint64_t value = 0;
  friend bool operator==(const RawKey&, const RawKey&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(0, value); }
};

// nsys packs machine, process (24 bits) and thread (24 bits) into one number.
inline constexpr uint64_t kNsysThreadMask = 0xFFFFFF;
inline uint64_t nsys_process_key(uint64_t global_id) { return global_id & ~kNsysThreadMask; }
inline uint64_t nsys_pid(uint64_t global_id) { return global_id >> 24U & kNsysThreadMask; }

inline trace::ProcessId nsys_process(trace::TraceBuilder& builder, uint64_t global_id) {
  return builder.process(nsys_process_key(global_id), nsys_pid(global_id));
}

inline trace::ThreadId nsys_thread(trace::TraceBuilder& builder, uint64_t global_tid) {
  return builder.thread(nsys_process(builder, global_tid), global_tid,
                        global_tid & kNsysThreadMask);
}

// A column's value as an unsigned number; values that do not fit become 0, which our tables treat
// as "unknown".
inline uint32_t nsys_unsigned(int64_t value) {
  return value > 0 && value <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(value)
                                                                    : 0;
}

// Where GPU work ran, in the export's terms.
struct NsysPlace {
  uint64_t process = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  friend bool operator==(const NsysPlace&, const NsysPlace&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(process, device, context, stream); }
};

// Gives places ids of the trace. Each process numbers its GPUs itself (CUDA_VISIBLE_DEVICES);
// TARGET_INFO_CUDA_DEVICE maps these numbers to the machine's GPUs.
class NsysPlaces {
 public:
  NsysPlaces(const NsysSchema& schema, trace::TraceBuilder& builder)
      : builder_(builder), lone_process_(lone_process(schema)) {
    if (!schema.find("TARGET_INFO_CUDA_DEVICE")) return;
    SqliteRows rows =
        schema.file().query("SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE LIMIT 65536");
    while (rows.valid() && rows.next()) {
      machine_device_[{static_cast<uint64_t>(rows.integer(0)), rows.integer(1)}] =
          nsys_unsigned(rows.integer(2));
    }
  }

  trace::QueueId queue(const NsysPlace& place) {
    uint32_t ordinal = place.device;
    const auto known = machine_device_.find({nsys_pid(place.process), place.device});
    if (known != machine_device_.end()) ordinal = known->second;
    const uint64_t process = place.process != 0 ? place.process : lone_process_;
    return builder_.queue(
        {nsys_process(builder_, process), builder_.device(ordinal), place.context, place.stream});
  }

 private:
  // Trimmed exports do not name a kernel's process. If all API calls come from one process, it is
  // that one; with several, kernels cannot be assigned and stay without a launch.
  static uint64_t lone_process(const NsysSchema& schema) {
    const auto kernels = schema.find("CUPTI_ACTIVITY_KIND_KERNEL");
    const auto calls = schema.find("CUPTI_ACTIVITY_KIND_RUNTIME");
    if (!kernels || !calls || schema.has_column(*kernels, "globalPid")) return 0;
    SqliteRows rows =
        schema.file().query("SELECT min(globalTid), max(globalTid) FROM " + sql_name(*calls));
    if (!rows.valid() || !rows.next() || rows.is_null(0)) return 0;
    const uint64_t first = nsys_process_key(static_cast<uint64_t>(rows.integer(0)));
    const uint64_t last = nsys_process_key(static_cast<uint64_t>(rows.integer(1)));
    return first == last ? first : 0;
  }

  trace::TraceBuilder& builder_;
  uint64_t lone_process_;                                            // 0: unknown
  std::map<std::pair<uint64_t, int64_t>, uint32_t> machine_device_;  // (pid, CUDA's device number)
};

// The export's string table. Only texts that rows refer to are read: the table also holds the
// program's output and other private data.
class NsysStrings {
 public:
  // Call `want` for all ids, then `load` once, then look up.
  void want(std::span<const RawKey> ids) {
    for (const RawKey id : ids) wanted_.insert(static_cast<int64_t>(id.value));
  }
  void load(const NsysSchema& schema, trace::TraceBuilder& builder) {
    SqliteRows rows = schema.file().query("SELECT id, value FROM StringIds");
    while (rows.valid() && ids_.size() < wanted_.size() && rows.next()) {
      const int64_t id = rows.integer(0);
      if (wanted_.contains(id)) ids_.emplace(id, builder.string(rows.text(1)));
    }
    if (!rows.damage().empty()) {
      builder.diagnostics().error("nsys_damaged_table",
                                  "the export's table StringIds is damaged (" + rows.damage() +
                                      "); some names are missing");
    }
    if (ids_.size() < wanted_.size()) {
      builder.diagnostics().warn("nsys_missing_strings",
                                 "names that the export refers to but does not contain",
                                 wanted_.size() - ids_.size());
    }
  }

  // None for an id that the export does not define; counted once per id.
  [[nodiscard]] trace::StringId operator[](RawKey id) const {
    const auto known = ids_.find(static_cast<int64_t>(id.value));
    return known == ids_.end() ? trace::StringId() : known->second;
  }

 private:
  std::unordered_set<int64_t> wanted_;
  std::unordered_map<int64_t, trace::StringId> ids_;
};

// What the tables of one export share while they are read.
struct NsysReading {
  const NsysSchema& schema;
  trace::TraceBuilder& builder;
  NsysPlaces places;
  NsysStrings strings;
  unsigned workers = 1;
};

enum class RowUse : uint8_t { stored, skipped, bad };

// One table of an export, scanned by several threads at once, each on its own slices of row ids.
class NsysTable {
 public:
  NsysTable(std::string name, std::vector<std::string> columns)
      : name_(std::move(name)), columns_wanted_(std::move(columns)) {}
  NsysTable(const NsysTable&) = delete;
  NsysTable& operator=(const NsysTable&) = delete;
  virtual ~NsysTable() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  // Columns of the rows that `store` gets, in this order; an empty name is NULL.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_wanted_; }

  // Makes room for `rows` more rows than there were before the scan.
  virtual void make_room(size_t rows) = 0;
  // Stores a row at place `row` (0 is the first of this scan); a row that is not stored leaves the
  // place free. Called by thread `worker`, and concurrently by other threads for other places.
  virtual RowUse store(const RowValues& values, size_t row, unsigned worker) = 0;
  // Moves `count` rows from place `from` down to place `to`.
  virtual void move_down(size_t from, size_t to, size_t count) = 0;
  // After the rows are read: names the texts that it needs from the string table.
  virtual void want_strings(NsysStrings& strings) const = 0;
  // Puts ids of the trace at places [first, first + count), which thread `worker` stored. Called in
  // order of places, so that new ids do not depend on which thread read what.
  virtual void settle(size_t first, size_t count, unsigned worker) = 0;
  // Puts the settled rows into the trace.
  virtual void deliver() = 0;

  // What the scan found.
  size_t rows = 0;
  size_t bad_rows = 0;
  std::string damage;  // why the table ended early; empty if it did not

 private:
  std::string name_;
  std::vector<std::string> columns_wanted_;
};

// Scans all tables with `workers` threads, calls `before_settling`, then settles every table. Rows
// of plain tables come directly from the pages (TableWalk), others from SQLite. Either decodes on
// one core, so slices of row ids, each with its own open file, scale with the cores.
void scan_tables(const std::filesystem::path& path, const SqliteFile& file,
                 std::span<const std::unique_ptr<NsysTable>> tables, unsigned workers,
                 const std::function<void()>& before_settling);

// One thread's own ids while it scans a table.
struct NsysLocalIds {
  LocalIds<trace::ThreadId, RawKey> threads;
  LocalIds<trace::QueueId, NsysPlace> places;
  LocalIds<trace::StringId, RawKey> names;  // ids of the string table
  LocalShapes shapes;
};

// What the tables of an export have in common: their own columns, the first `Filled` of which are
// always present, which go into the trace when everything is read, and ids per thread.
template <class Columns, size_t Filled, class Local = NsysLocalIds>
class NsysColumnTable : public NsysTable {
 public:
  NsysColumnTable(NsysReading& reading, const std::string& table, Columns& destination,
                  std::string_view wanted)
      : NsysTable(table, reading.schema.columns(table, wanted)),
        reading_(reading),
        local_(reading.workers),
        destination_(destination) {}

  void make_room(size_t rows) override {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (std::get<I>(columns_.columns()).resize(rows), ...);
    }(std::make_index_sequence<Filled>());
  }

  void move_down(size_t from, size_t to, size_t count) override {
    trace::each_column(columns_, [&](auto& column) {
      if (column.empty()) return;
      const auto first = column.begin() + static_cast<std::ptrdiff_t>(from);
      std::move(first, first + static_cast<std::ptrdiff_t>(count),
                column.begin() + static_cast<std::ptrdiff_t>(to));
    });
  }

  void want_strings(NsysStrings& strings) const override {
    for (const Local& local : local_) strings.want(local.names.values().values());
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    Local& local = local_[worker];
    trace::each_column(columns_, [&]<class Value>(std::vector<Value>& column) {
      if (column.empty()) return;
      const std::span<Value> part = std::span(column).subspan(first, count);
      if constexpr (std::is_same_v<Value, trace::ThreadId>) {
        local.threads.settle(part,
                             [&](RawKey key) { return nsys_thread(reading_.builder, key.value); });
      } else if constexpr (std::is_same_v<Value, trace::QueueId>) {
        local.places.settle(part,
                            [&](const NsysPlace& place) { return reading_.places.queue(place); });
      } else if constexpr (std::is_same_v<Value, trace::ShapeId>) {
        local.shapes.settle(
            part, [&](const trace::LaunchShape& shape) { return reading_.builder.shape(shape); });
      } else if constexpr (std::is_same_v<Value, trace::StringId>) {
        settle_strings(column, part, local);
      }
    });
  }

  void deliver() override { trace::append_rows(destination_, columns_); }

 protected:
  // Puts the trace's ids into a part of one of the columns.
  virtual void settle_strings(const std::vector<trace::StringId>& /*column*/,
                              std::span<trace::StringId> part, Local& local) {
    local.names.settle(part, [&](RawKey name) { return reading_.strings[name]; });
  }

  // For a row whose first two columns are its start and end; false unless both are known and in
  // order.
  bool store_times(const RowValues& row, size_t i) {
    const auto start = row.number(0);
    const auto end = row.number(1);
    if (!start || !end || *start > *end) return false;
    columns_.start[i] = *start;
    columns_.end[i] = *end;
    return true;
  }

  // For a row of GPU work, which starts with times, place and correlation.
  bool store_gpu_work(const RowValues& row, size_t i, Local& local) {
    if (!store_times(row, i)) return false;
    columns_.queue[i] = local.places.intern(
        {nsys_process_key(static_cast<uint64_t>(row.integer(2))), nsys_unsigned(row.integer(3)),
         nsys_unsigned(row.integer(4)), nsys_unsigned(row.integer(5))});
    columns_.correlation[i] = nsys_unsigned(row.integer(6));
    return true;
  }

  NsysReading& reading_;
  Columns columns_;
  std::vector<Local> local_;

 private:
  Columns& destination_;
};

// The tables that the export has.
std::vector<std::unique_ptr<NsysTable>> nsys_tables(NsysReading& reading);

}  // namespace llmprof::readers
