#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "readers/nsys_sqlite/table_record.h"

struct sqlite3;
struct sqlite3_stmt;

namespace llmprof::readers {

// One query's rows. Not safe for two threads.
class SqliteRows {
 public:
  SqliteRows() = default;
  explicit SqliteRows(sqlite3_stmt* statement) : statement_(statement) {}

  // False when the query does not compile (no such table or column).
  [[nodiscard]] bool valid() const { return statement_ != nullptr; }
  void bind(int parameter, int64_t value);
  // Starts over, with newly bound parameters.
  void rewind();
  // False at the end and on damage; `damage` tells which.
  bool next();
  [[nodiscard]] const std::string& damage() const { return damage_; }

  [[nodiscard]] int64_t integer(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  // Valid until the next row.
  [[nodiscard]] std::string_view text(int column) const;
  // All columns of the row; texts and bytes are valid until the next one.
  void take(RowValues& values) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
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
  // Tables and views. An empty list with `damage` set means the file's own directory is unreadable.
  [[nodiscard]] std::vector<std::string> tables(std::string& damage) const;
  [[nodiscard]] std::vector<std::string> columns(std::string_view table) const;
  // Where the wanted columns are in the pages of the file (an empty name: in none). None for what
  // only SQLite finds: in views, generated columns, defaults of columns added later, row ids by
  // another name or hidden by a column of their name.
  [[nodiscard]] std::optional<TableLayout> layout(std::string_view table,
                                                  std::span<const std::string> wanted) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

// A table or column name as it may stand in a query.
std::string sql_name(std::string_view name);

}  // namespace llmprof::readers
