#include "query/sqlite_file/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "base/needed.h"
#include "query/engine/table_rows.h"

namespace llmprof::query {
namespace {

std::string_view stored_type(ColumnType type) {
  if (type == ColumnType::text) return "TEXT";
  return type == ColumnType::real ? "REAL" : "INTEGER";
}

class NewDatabase final : public TableWriter {
 public:
  explicit NewDatabase(const std::filesystem::path& path) : path_(path) {
    sqlite3* made = nullptr;
    const int state = sqlite3_open_v2(
        path.c_str(), &made,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_NOMUTEX,
        nullptr);
    database_.reset(made);
    check(state);
    // A new file: if writing fails, it is removed.
    run("PRAGMA journal_mode = OFF");
    run("PRAGMA synchronous = OFF");
    run("BEGIN");
  }

  void write(const Table& table, const TableRows& rows) override {
    std::string sql = fmt::format("CREATE TABLE \"{}\" (\"run\" TEXT", table.name);
    for (const ColumnInfo& column : table.columns) {
      sql += fmt::format(", \"{}\" {}", column.name, stored_type(column.type));
    }
    run(sql + ")");
    Insert insert(*this, table.name, table.columns.size() + 1);
    std::string scratch;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      const TableRows::Place place = rows.place_of(row);
      for (size_t i = 0; i <= table.columns.size(); ++i) {
        insert.bind(i, rows.value(place, i, scratch));
      }
      insert.run();
    }
  }

  void write(const TextTable& table) override {
    std::string sql;
    for (const std::string_view column : table.columns) {
      sql += fmt::format("{}\"{}\" TEXT", sql.empty() ? "" : ", ", column);
    }
    run(fmt::format("CREATE TABLE {} ({})", table.name, sql));
    Insert insert(*this, table.name, table.columns.size());
    for (const std::vector<std::string>& row : table.rows) {
      for (size_t i = 0; i < row.size(); ++i) insert.bind(i, Value::unless_empty(row[i]));
      insert.run();
    }
  }

  void finish() {
    run("COMMIT");
    check(sqlite3_close(database_.release()));
  }

 private:
  void run(const std::string& sql) {
    check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  // Statements that are run once per row.
  class Insert {
   public:
    Insert(NewDatabase& into, std::string_view table, size_t columns) : into_(into) {
      std::string sql = fmt::format("INSERT INTO \"{}\" VALUES (?", table);
      for (size_t i = 1; i < columns; ++i) sql += ", ?";
      sqlite3_stmt* made = nullptr;
      into_.check(
          sqlite3_prepare_v2(into_.database_.get(), (sql + ")").c_str(), -1, &made, nullptr));
      statement_.reset(made);
    }
    void bind(size_t column, const Value& value) {
      const int place = static_cast<int>(column) + 1;
      sqlite3_stmt* const statement = statement_.get();
      switch (value.kind) {
        case Value::Kind::null:
          into_.check(sqlite3_bind_null(statement, place));
          break;
        case Value::Kind::integer:
          into_.check(sqlite3_bind_int64(statement, place, value.integer));
          break;
        case Value::Kind::real:
          into_.check(sqlite3_bind_double(statement, place, value.real));
          break;
        case Value::Kind::text:
          into_.check(sqlite3_bind_text64(statement, place, value.text.data(), value.text.size(),
                                          SQLITE_TRANSIENT, SQLITE_UTF8));
          break;
      }
    }
    void run() {
      if (sqlite3_step(statement_.get()) != SQLITE_DONE) into_.check(SQLITE_ERROR);
      sqlite3_reset(statement_.get());
    }

   private:
    struct Finalize {
      void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    NewDatabase& into_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  };

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };

  void check(int state) const {
    if (state == SQLITE_OK) return;
    give_up(ErrorKind::tool,
            fmt::format("{}: cannot be written: {}", path_.string(),
                        database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(state)));
  }

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace

Result<CopiedTables> write_sqlite_file(Database& database, const std::filesystem::path& path,
                                       Progress& progress) {
  return attempt([&] {
    NewDatabase into(path);
    CopiedTables copied = copy_tables(database, into, progress);
    into.finish();
    return copied;
  });
}

}  // namespace llmprof::query
