#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "readers/nsys_sqlite/sqlite_file.h"
#include "trace/interner.h"

namespace llmprof::readers {

// A table's values as the file spells them, before they have ids of the trace.
struct RawKey {
  uint64_t value = 0;
  friend bool operator==(const RawKey&, const RawKey&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(0, value); }
};

enum class RowUse : uint8_t { stored, skipped, bad };

// One table of an export, scanned by several threads at once, each on its own slices of row ids.
class ScannedTable {
 public:
  ScannedTable() = default;
  ScannedTable(const ScannedTable&) = delete;
  ScannedTable& operator=(const ScannedTable&) = delete;
  virtual ~ScannedTable() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  // Of the rows that `store` gets, in this order; an empty name is NULL.
  [[nodiscard]] virtual const std::vector<std::string>& columns() const = 0;
  // Makes room for `rows` more rows than there were before the scan.
  virtual void make_room(size_t rows) = 0;
  // Stores a row in place `row` (0 is the first of this scan); what is not stored leaves the place
  // free. Called by thread `worker`, by several threads at once for different places.
  virtual RowUse store(const RowValues& values, size_t row, unsigned worker) = 0;
  // Moves `count` rows from place `from` down to place `to`.
  virtual void move_down(size_t from, size_t to, size_t count) = 0;
  // Puts ids of the trace at places [first, first + count), which thread `worker` stored. In order
  // of the places, so that new ids do not depend on which thread read what.
  virtual void settle(size_t first, size_t count, unsigned worker) = 0;
};

struct ScanOutcome {
  size_t rows = 0;
  size_t bad_rows = 0;
  std::string damage;  // why the table ended early; empty when it did not
};

// Scans all tables with `workers` threads, calls `before_settling`, then settles every table.
// Rows come straight from the pages where a table is a plain one (TableWalk), else from SQLite.
// Both decode on one core: slices of row ids, each with a file of its own, scale with the cores.
std::vector<ScanOutcome> scan_tables(const std::filesystem::path& path, const SqliteFile& file,
                                     std::span<ScannedTable* const> tables, unsigned workers,
                                     const std::function<void()>& before_settling);

}  // namespace llmprof::readers
