#include "readers/nsys_sqlite/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

#include "base/bytes_read.h"

namespace llmprof::readers {
namespace {

constexpr int64_t kSliceRows = 1 << 15;

struct RowIds {
  int64_t first = 0;
  int64_t last = -1;
};

struct Slice {
  size_t table = 0;
  RowIds ids;
  size_t first_row = 0;  // place of the slice's first row
  size_t rows = 0;
  size_t bad_rows = 0;
  unsigned worker = 0;
  std::string damage;
};

// Row ids of a table that can be cut into slices: there are some, and no more than the file could
// hold (a row takes over 16 bytes), so that places can be laid out before reading. A table with row
// ids far apart, or a view, is read in one piece instead.
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

// A damaged file may hold a row id twice: no more rows are taken than there are places.
void read_rows(SqliteRows& rows, ScannedTable& table, Slice& slice) {
  const auto places = static_cast<size_t>(slice.ids.last - slice.ids.first) + 1;
  while (rows.next()) {
    if (slice.rows == places) {
      slice.damage = "row ids repeat";
      return;
    }
    count(slice, table.store(rows, slice.first_row + slice.rows, slice.worker));
  }
  slice.damage = rows.damage();
}

void read_slice(const SqliteFile& file, ScannedTable& table, Slice& slice) {
  SqliteRows rows = file.query(fmt::format("SELECT {} FROM {} WHERE rowid BETWEEN ?1 AND ?2",
                                           table.expressions(), sql_name(table.name())));
  if (!rows.valid()) {
    slice.damage = "the table cannot be queried";
    return;
  }
  rows.bind(1, slice.ids.first);
  rows.bind(2, slice.ids.last);
  read_rows(rows, table, slice);
}

// For tables without usable row ids: room is made as rows come.
void read_whole(const SqliteFile& file, ScannedTable& table, Slice& slice) {
  SqliteRows rows =
      file.query(fmt::format("SELECT {} FROM {}", table.expressions(), sql_name(table.name())));
  if (!rows.valid()) {
    slice.damage = "the table cannot be queried";
    return;
  }
  size_t room = 0;
  while (rows.next()) {
    if (slice.rows == room) {
      room = std::max<size_t>(1024, room * 2);
      table.make_room(room);
    }
    count(slice, table.store(rows, slice.rows, slice.worker));
  }
  slice.damage = rows.damage();
}

// Closes the gaps that missing row ids and bad rows left between slices.
ScanOutcome close_up(ScannedTable& table, std::span<Slice*> slices) {
  ScanOutcome outcome;
  for (Slice* slice : slices) {
    table.settle(slice->first_row, slice->rows, slice->worker);
    if (slice->first_row != outcome.rows) {
      table.move_down(slice->first_row, outcome.rows, slice->rows);
    }
    outcome.rows += slice->rows;
    outcome.bad_rows += slice->bad_rows;
    if (outcome.damage.empty()) outcome.damage = slice->damage;
  }
  table.make_room(outcome.rows);
  return outcome;
}

}  // namespace

std::vector<ScanOutcome> scan_tables(const std::filesystem::path& path, const SqliteFile& file,
                                     std::span<ScannedTable* const> tables, unsigned workers,
                                     const std::function<void()>& before_settling) {
  std::error_code ignored;
  const uintmax_t file_size = std::filesystem::file_size(path, ignored);
  std::vector<Slice> slices;
  for (size_t t = 0; t < tables.size(); ++t) {
    const auto ids = sliceable_ids(file, tables[t]->name(), file_size);
    if (!ids) {
      Slice whole;
      whole.table = t;
      read_whole(file, *tables[t], whole);
      slices.push_back(whole);
      continue;
    }
    tables[t]->make_room(static_cast<size_t>(ids->last - ids->first) + 1);
    for (int64_t first = ids->first; first <= ids->last; first += kSliceRows) {
      Slice slice;
      slice.table = t;
      slice.ids = {first, std::min(ids->last, first + kSliceRows - 1)};
      slice.first_row = static_cast<size_t>(first - ids->first);
      slices.push_back(std::move(slice));
      if (ids->last - first < kSliceRows) break;
    }
  }

  std::atomic<size_t> next{0};
  const auto work = [&](unsigned worker) -> std::string {
    auto own = SqliteFile::open(path);
    if (!own) return own.error().message;
    for (size_t i = next++; i < slices.size(); i = next++) {
      if (slices[i].ids.last < slices[i].ids.first) continue;
      slices[i].worker = worker;
      read_slice(*own, *tables[slices[i].table], slices[i]);
      // Slices are about alike, and SQLite does not tell what it reads.
      count_bytes_read(file_size / slices.size());
    }
    return {};
  };
  std::vector<std::future<std::string>> threads;
  for (unsigned worker = 1; worker < workers; ++worker) {
    threads.push_back(std::async(std::launch::async, work, worker));
  }
  std::string trouble = work(0);
  for (auto& thread : threads) {
    // One thread that could open the file has read all slices.
    if (const std::string other = thread.get(); other.empty()) trouble.clear();
  }

  before_settling();
  std::vector<ScanOutcome> outcomes;
  for (size_t t = 0; t < tables.size(); ++t) {
    for (unsigned worker = 0; worker < workers; ++worker) tables[t]->prepare_settling(worker);
    std::vector<Slice*> own;
    for (Slice& slice : slices) {
      if (slice.table == t) own.push_back(&slice);
    }
    outcomes.push_back(close_up(*tables[t], own));
    if (outcomes.back().damage.empty()) outcomes.back().damage = trouble;
  }
  return outcomes;
}

}  // namespace llmprof::readers
