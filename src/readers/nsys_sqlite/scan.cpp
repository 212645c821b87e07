#include "readers/nsys_sqlite/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

#include "base/streams/byte_stream.h"
#include "readers/nsys_sqlite/sqlite_file.h"
#include "readers/nsys_sqlite/table_walk.h"

namespace llmprof::readers {
namespace {

constexpr int64_t kSliceRows = 1 << 15;

struct RowIds {
  int64_t first = 0;
  int64_t last = -1;
};

struct Slice {
  size_t table = 0;
  RowIds ids = {};
  size_t first_row = 0;  // index of the slice's first row
  size_t rows = 0;
  size_t bad_rows = 0;
  unsigned worker = 0;
  std::string damage = {};
};

// Row ids of a table that can be cut into slices: there are some, and no more than the file could
// hold (a row takes over 16 bytes), so that places can be assigned before reading. A table with
// widely spaced row ids, or a view, is read in one piece instead.
std::optional<RowIds> sliceable_ids(const SqliteFile& file, const std::string& table,
                                    uintmax_t file_size) {
  // One aggregate per query: SQLite finds either end in the index, but scans the table for both.
  SqliteRows ends = file.query(fmt::format(
      "SELECT (SELECT min(rowid) FROM {0}), (SELECT max(rowid) FROM {0})", sql_name(table)));
  if (!ends.valid() || !ends.next() || ends.is_null(0)) return std::nullopt;
  const RowIds ids{ends.integer(0), ends.integer(1)};
  const auto span = static_cast<uint64_t>(ids.last) - static_cast<uint64_t>(ids.first);
  if (ids.last < ids.first || span >= file_size / 16 || span > (1ULL << 31U)) return std::nullopt;
  return ids;
}

void count(Slice& slice, RowUse use) {
  if (use == RowUse::stored) ++slice.rows;
  if (use == RowUse::bad) ++slice.bad_rows;
}

// One thread's own access to the rows of the file.
class RowSources {
 public:
  explicit RowSources(const std::filesystem::path& path)
      : path_(path), pages_(TableWalk::open(path)) {}

  // Null if the file's pages cannot be read directly.
  [[nodiscard]] TableWalk* pages() { return pages_ ? &*pages_ : nullptr; }
  // Opened on first use, because that parses the schema of the entire file. Null if it cannot be
  // opened; `damage` says why.
  [[nodiscard]] const SqliteFile* library(std::string& damage) {
    if (!library_) library_ = SqliteFile::open(path_);
    if (*library_) return &**library_;
    damage = library_->error().message;
    return nullptr;
  }

 private:
  const std::filesystem::path& path_;
  std::optional<TableWalk> pages_;
  std::optional<Result<SqliteFile>> library_;
};

class SliceReader {
 public:
  SliceReader(RowSources& from, NsysTable& table, Slice& slice)
      : from_(from), table_(table), slice_(slice), values_(table.columns().size()) {}

  // From the first row that cannot be read from the pages, SQLite reads the rest of the slice and
  // reports what is wrong.
  void read(const std::optional<TableLayout>& layout) {
    RowIds left = slice_.ids;
    TableWalk* pages = from_.pages();
    const bool done = pages != nullptr && layout && walk(*pages, *layout, left);
    if (!done && slice_.damage.empty()) read_by_library(left);
  }

 private:
  // Whether everything was read; otherwise `left` is what remains.
  bool walk(TableWalk& pages, const TableLayout& layout, RowIds& left) {
    pages.start(layout.root_page, left.first, left.last);
    while (true) {
      const TableWalk::Step step = pages.next();
      if (step == TableWalk::Step::end) return true;
      if (step == TableWalk::Step::damage) return false;
      const int64_t id = pages.row_id();
      if (step == TableWalk::Step::long_row) {
        read_by_library({id, id});
      } else if (!take_fields(pages.record(), layout, values_)) {
        return false;
      } else {
        store();
      }
      if (id == left.last || !slice_.damage.empty()) return true;
      left.first = id + 1;
    }
  }

  void read_by_library(RowIds ids) {
    if (rows_) {
      rows_->rewind();
    } else {
      const SqliteFile* file = from_.library(slice_.damage);
      if (file == nullptr) return;
      rows_ = file->query(select_columns(table_.name(), table_.columns()) +
                          " WHERE rowid BETWEEN ?1 AND ?2");
    }
    if (!rows_->valid()) {
      slice_.damage = "the table cannot be queried";
      return;
    }
    rows_->bind(1, ids.first);
    rows_->bind(2, ids.last);
    while (slice_.damage.empty() && rows_->next()) {
      rows_->take(values_);
      store();
    }
    if (slice_.damage.empty()) slice_.damage = rows_->damage();
  }

  // A damaged file may hold a row id twice: no more rows are taken than there are places.
  void store() {
    const auto places = static_cast<size_t>(slice_.ids.last - slice_.ids.first) + 1;
    if (slice_.rows == places) {
      slice_.damage = "row ids repeat";
      return;
    }
    count(slice_, table_.store(values_, slice_.first_row + slice_.rows, slice_.worker));
  }

  RowSources& from_;
  NsysTable& table_;
  Slice& slice_;
  RowValues values_;
  std::optional<SqliteRows> rows_;
};

// For tables without usable row ids: grows as rows arrive.
void read_whole(const SqliteFile& file, NsysTable& table, Slice& slice) {
  SqliteRows rows = file.query(select_columns(table.name(), table.columns()));
  if (!rows.valid()) {
    slice.damage = "the table cannot be queried";
    return;
  }
  RowValues values(table.columns().size());
  size_t room = 0;
  while (rows.next()) {
    if (slice.rows == room) {
      room = std::max<size_t>(1024, room * 2);
      table.make_room(room);
    }
    rows.take(values);
    count(slice, table.store(values, slice.rows, slice.worker));
  }
  slice.damage = rows.damage();
}

// Settles the rows of a slice and closes the gap that missing row ids and bad rows left before it.
void close_up(NsysTable& table, const Slice& slice) {
  table.settle(slice.first_row, slice.rows, slice.worker);
  if (slice.first_row != table.rows) table.move_down(slice.first_row, table.rows, slice.rows);
  table.rows += slice.rows;
  table.bad_rows += slice.bad_rows;
  if (table.damage.empty()) table.damage = slice.damage;
}

}  // namespace

void scan_tables(const std::filesystem::path& path, const SqliteFile& file,
                 std::span<const std::unique_ptr<NsysTable>> tables, unsigned workers,
                 const std::function<void()>& before_settling) {
  std::error_code ignored;
  const uintmax_t file_size = std::filesystem::file_size(path, ignored);
  std::vector<Slice> slices;
  std::vector<std::optional<TableLayout>> layouts(tables.size());
  size_t places = 0;
  for (size_t t = 0; t < tables.size(); ++t) {
    const auto ids = sliceable_ids(file, tables[t]->name(), file_size);
    if (!ids) {
      read_whole(file, *tables[t], slices.emplace_back(Slice{.table = t}));
      continue;
    }
    layouts[t] = file.layout(tables[t]->name(), tables[t]->columns());
    const size_t room = static_cast<size_t>(ids->last - ids->first) + 1;
    tables[t]->make_room(room);
    places += room;
    for (int64_t first = ids->first; first <= ids->last; first += kSliceRows) {
      const bool last = ids->last - first < kSliceRows;
      slices.push_back({.table = t,
                        .ids = {first, last ? ids->last : first + kSliceRows - 1},
                        .first_row = static_cast<size_t>(first - ids->first)});
      if (last) break;
    }
  }

  std::atomic<size_t> next{0};
  const auto work = [&](unsigned worker) {
    RowSources sources(path);
    for (size_t i = next++; i < slices.size(); i = next++) {
      if (slices[i].ids.last < slices[i].ids.first) continue;
      slices[i].worker = worker;
      const size_t table = slices[i].table;
      SliceReader(sources, *tables[table], slices[i]).read(layouts[table]);
      // Slices are similar in size, and SQLite does not report how much it reads.
      count_bytes_read(file_size / slices.size());
    }
  };
  // A thread for few rows would cost more than it saves.
  const size_t useful = 1 + places / kSliceRows;
  std::vector<std::future<void>> threads;
  for (unsigned worker = 1; worker < std::min<size_t>(workers, useful); ++worker) {
    threads.push_back(std::async(std::launch::async, work, worker));
  }
  work(0);
  for (auto& thread : threads) thread.get();

  before_settling();
  for (const Slice& slice : slices) close_up(*tables[slice.table], slice);
  for (const auto& table : tables) table->make_room(table->rows);
}

}  // namespace llmprof::readers
