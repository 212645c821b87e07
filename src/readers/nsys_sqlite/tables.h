#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
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

trace::ProcessId nsys_process(trace::TraceBuilder& builder, uint64_t global_id);
trace::ThreadId nsys_thread(trace::TraceBuilder& builder, uint64_t global_tid);

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
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(
        trace::hash_mix(trace::hash_mix(trace::hash_mix(0, process), device), context), stream);
  }
};

// Gives places ids of the trace. Each process numbers its GPUs itself (CUDA_VISIBLE_DEVICES);
// TARGET_INFO_CUDA_DEVICE maps these numbers to the machine's GPUs.
class NsysPlaces {
 public:
  NsysPlaces(const NsysSchema& schema, trace::TraceBuilder& builder);
  trace::QueueId queue(const NsysPlace& place);

 private:
  static uint64_t lone_process(const NsysSchema& schema);

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
  void load(const NsysSchema& schema, trace::TraceBuilder& builder);
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
  virtual void want_strings(NsysStrings&) const {}
  // Puts ids of the trace at places [first, first + count), which thread `worker` stored. Called in
  // order of places, so that new ids do not depend on which thread read what.
  virtual void settle(size_t first, size_t count, unsigned worker) = 0;
  // Puts the settled rows into the trace.
  virtual void deliver() = 0;

 private:
  std::string name_;
  std::vector<std::string> columns_wanted_;
};

struct ScanOutcome {
  size_t rows = 0;
  size_t bad_rows = 0;
  std::string damage;  // why the table ended early; empty if it did not
};

// Scans all tables with `workers` threads, calls `before_settling`, then settles every table. Rows
// of plain tables come directly from the pages (TableWalk), others from SQLite. Either decodes on
// one core, so slices of row ids, each with its own open file, scale with the cores.
std::vector<ScanOutcome> scan_tables(const std::filesystem::path& path, const SqliteFile& file,
                                     std::span<const std::unique_ptr<NsysTable>> tables,
                                     unsigned workers,
                                     const std::function<void()>& before_settling);

std::unique_ptr<NsysTable> nsys_kernel_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_launch_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_memory_table(NsysReading& reading, const std::string& table,
                                             trace::MemoryKind kind);
std::unique_ptr<NsysTable> nsys_graph_replay_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_range_table(NsysReading& reading, const std::string& table);

// What the tables of an export have in common: their own columns, the first `Filled` of which are
// always present, which go into the trace when everything is read, and scratch space per thread.
template <class Columns, class Scratch, size_t Filled>
class NsysColumnTable : public NsysTable {
 public:
  NsysColumnTable(NsysReading& reading, const std::string& table, Columns& destination,
                  std::span<const std::string_view> wanted)
      : NsysTable(table, reading.schema.columns(table, wanted)),
        reading_(reading),
        scratch_(reading.workers),
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

  void deliver() override { trace::append_rows(destination_, columns_); }

 protected:
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

  void settle_threads(std::span<trace::ThreadId> column,
                      LocalIds<trace::ThreadId, RawKey>& threads) {
    threads.settle(column, [&](RawKey key) { return nsys_thread(reading_.builder, key.value); });
  }

  NsysReading& reading_;
  Columns columns_;
  std::vector<Scratch> scratch_;

 private:
  Columns& destination_;
};

}  // namespace llmprof::readers
