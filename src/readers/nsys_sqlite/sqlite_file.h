#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "readers/nsys_sqlite/table_walk.h"

namespace llmprof::readers {

// One query's rows. Not thread-safe.
class SqliteRows {
 public:
  SqliteRows() = default;
  explicit SqliteRows(sqlite3_stmt* statement) : statement_(statement) {}

  // False if the query does not compile (no such table or column).
  [[nodiscard]] bool valid() const { return statement_ != nullptr; }
  void bind(int parameter, int64_t value) {
    sqlite3_bind_int64(statement_.get(), parameter, value);
  }
  // Starts over, with newly bound parameters.
  void rewind() { sqlite3_reset(statement_.get()); }
  // False at the end and on damage; `damage` says which.
  bool next();
  [[nodiscard]] const std::string& damage() const { return damage_; }

  [[nodiscard]] int64_t integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  // Valid until the next row.
  [[nodiscard]] std::string_view text(int column) const;
  // All columns of the row; texts and bytes are valid until the next one.
  void take(RowValues& values) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string damage_;
};

// An SQLite file opened so that nothing in its folder can change: no lock, no journal, no shared
// memory file. Each thread opens its own.
class SqliteFile {
 public:
  static Result<SqliteFile> open(const std::filesystem::path& path);

  [[nodiscard]] SqliteRows query(const std::string& sql) const;
  // Tables and views. An empty list with `damage` set means that the file's own directory is
  // unreadable.
  [[nodiscard]] std::vector<std::string> tables(std::string& damage) const;
  [[nodiscard]] std::vector<std::string> columns(std::string_view table) const;
  // Where the wanted columns are in the pages of the file (an empty name: nowhere). None if only
  // SQLite can find them: in views, generated columns, defaults of columns added later, row ids
  // under another name or hidden by a column of that name.
  [[nodiscard]] std::optional<TableLayout> layout(std::string_view table,
                                                  std::span<const std::string> wanted) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

// A table or column name, quoted for a query.
std::string sql_name(std::string_view name);

// "SELECT start, end, NULL FROM table": NULL for empty names.
std::string select_columns(std::string_view table, std::span<const std::string> columns);

// The tables of one nsys export. Tables and columns differ between versions of nsys (2020 to 2026),
// so each is looked up before use.
class NsysSchema {
 public:
  NsysSchema(const SqliteFile& file, std::vector<std::string> tables)
      : file_(&file), tables_(std::move(tables)) {}

  // The table with that name or its newest successor ("..._V2", "..._V3").
  [[nodiscard]] std::optional<std::string> find(std::string_view table) const;
  // An nsys export, of any age, complete or trimmed.
  [[nodiscard]] bool is_nsys() const;
  // A profile from nvprof or the Visual Profiler, which name the same tables differently.
  [[nodiscard]] bool is_nvprof() const;

  // The wanted columns ("start,end"), empty if the table lacks them. A wanted column may list
  // alternatives ("demangledName|shortName"): the first one present is taken.
  [[nodiscard]] std::vector<std::string> columns(std::string_view table,
                                                 std::string_view wanted) const;
  // A query for these columns.
  [[nodiscard]] std::string select(std::string_view table, std::string_view wanted) const {
    return select_columns(table, columns(table, wanted));
  }
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;

  [[nodiscard]] const SqliteFile& file() const { return *file_; }

 private:
  const SqliteFile* file_;
  std::vector<std::string> tables_;
};

}  // namespace llmprof::readers
