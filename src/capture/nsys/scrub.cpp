#include "capture/nsys/nsys_capture.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/needed.h"
#include "base/secrets/secrets.h"
#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// The name in "NAME=value"; empty if there is none.
std::string_view variable_name(std::string_view entry) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view name = entry.substr(0, equals);
  return std::all_of(name.begin(), name.end(), is_identifier) ? name : std::string_view();
}

std::string sql_quoted(std::string_view text, char quote) {
  return quote + escaped(text, {&quote, 1}, quote) + quote;
}
std::string sql_text(const path& file) { return sql_quoted(file.string(), '\''); }
std::string sql_name(std::string_view name) { return sql_quoted(name, '"'); }

// Its errors are thrown (base/needed.h).
class Database {
 public:
  Database(path file, int flags) : file_(std::move(file)) {
    sqlite3* database = nullptr;
    const int status =
        sqlite3_open_v2(file_.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    if (status != SQLITE_OK) refuse("open");
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  }

  void execute(const std::string& sql) {
    const int status = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (status != SQLITE_OK) refuse("change");
  }

  Statement prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
    return Statement(statement);
  }

  // Does nothing if a table lacks what the query names: row IDs, names.
  template <class Use>
  void each_row(const std::string& sql, const Use& use) {
    const Statement rows = prepare(sql);
    int status = rows ? SQLITE_ROW : SQLITE_DONE;
    while (rows && (status = sqlite3_step(rows.get())) == SQLITE_ROW) use(rows.get());
    if (status != SQLITE_DONE) refuse("read");
  }

  [[noreturn]] void refuse(std::string_view what) const {
    give_up(ErrorKind::input,
            fmt::format("{}: cannot {} it as SQLite: {}", file_.string(), what,
                        database_ ? sqlite3_errmsg(database_.get()) : "no memory"));
  }

 private:
  path file_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

std::string_view text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

class Scrubber {
 public:
  Scrubber(Database& copy, const std::set<std::string>& allowed) : copy_(copy), allowed_(allowed) {}

  uint64_t run() {
    std::vector<std::string> tables;
    copy_.each_row(
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND c.name = 'value' AND m.name NOT LIKE 'sqlite%'",
        [&](sqlite3_stmt* row) { tables.emplace_back(text_of(row, 0)); });
    for (const std::string& table : tables) {
      scrub_table(table);
      scrub_arguments(table);
    }
    return removed_;
  }

 private:
  struct Row {
    int64_t id = 0;
    std::string value;
  };

  // nsys keeps a process's variables in one text, separated by zeros (StringIds,
  // TARGET_INFO_SYSTEM_ENV), or in one row each (META_DATA_CAPTURE, from 2025 on).
  void scrub_table(const std::string& table) {
    std::vector<Row> changed;
    const bool has_names =
        copy_.prepare(fmt::format("SELECT name FROM {}", sql_name(table))) != nullptr;
    const std::string by_name =
        has_names ? " OR name LIKE '%ENVIRONMENT_VARIABLE%' OR name = 'DeviceEnvironment'" : "";
    copy_.each_row(fmt::format("SELECT rowid, value, instr(CAST(value AS BLOB), x'00') = 0 FROM {} "
                               "WHERE typeof(value) IN ('text', 'blob') AND "
                               "(instr(CAST(value AS BLOB), x'00') > 0{})",
                               sql_name(table), by_name),
                   [&](sqlite3_stmt* row) {
                     const bool is_single = sqlite3_column_int(row, 2) != 0;
                     if (auto kept = without_variables(text_of(row, 1), is_single)) {
                       changed.push_back({sqlite3_column_int64(row, 0), std::move(*kept)});
                     }
                   });
    write(table, changed);
  }

  // A command line has one row per argument: PROCESS_0:ARGUMENT_1. A value may be in the row after
  // its name.
  void scrub_arguments(const std::string& table) {
    std::map<std::string, std::map<int64_t, Row>> lines;  // by process, then by place
    copy_.each_row(
        fmt::format("SELECT rowid, name, value FROM {} WHERE typeof(value) = 'text' AND name LIKE "
                    "'%ARGUMENT%'",
                    sql_name(table)),
        [&](sqlite3_stmt* row) {
          const std::string name(text_of(row, 1));
          const size_t number = name.find_last_not_of("0123456789") + 1;
          lines[name.substr(0, number)][parse_int(name.substr(number)).value_or(0)] = {
              sqlite3_column_int64(row, 0), std::string(text_of(row, 2))};
        });
    std::vector<Row> changed;
    for (const auto& [process, arguments] : lines) {
      std::vector<std::string> argv;
      for (const auto& [place, argument] : arguments) argv.push_back(argument.value);
      const std::vector<std::string> safe = without_secrets(argv);
      size_t i = 0;
      for (const auto& [place, argument] : arguments) {
        if (safe[i] != argument.value) changed.push_back({argument.id, safe[i]});
        ++i;
      }
    }
    removed_ += changed.size();
    write(table, changed);
  }

  // Nothing if it may stay unchanged.
  std::optional<std::string> without_variables(std::string_view value, bool is_single) {
    const std::vector<std::string_view> entries = split_at(value, '\0');
    const auto variables = static_cast<size_t>(
        std::count_if(entries.begin(), entries.end(),
                      [](std::string_view entry) { return !variable_name(entry).empty(); }));
    // Other texts that contain zeros are not lists of variables.
    if (!is_single && 2 * variables < entries.size()) return std::nullopt;
    std::string kept;
    uint64_t dropped = 0;
    for (const std::string_view entry : entries) {
      const std::string_view name = variable_name(entry);
      if (!allowed_.contains(std::string(name))) {
        ++dropped;
        continue;
      }
      if (!kept.empty()) kept += '\0';
      kept += entry;
    }
    if (dropped == 0) return std::nullopt;
    removed_ += dropped;
    return kept;
  }

  void write(const std::string& table, const std::vector<Row>& rows) {
    if (rows.empty()) return;
    const Statement update =
        copy_.prepare(fmt::format("UPDATE {} SET value = ?2 WHERE rowid = ?1", sql_name(table)));
    if (!update) copy_.refuse("change");
    for (const Row& row : rows) {
      sqlite3_reset(update.get());
      sqlite3_bind_int64(update.get(), 1, row.id);
      sqlite3_bind_text64(update.get(), 2, row.value.data(), row.value.size(), SQLITE_STATIC,
                          SQLITE_UTF8);
      if (sqlite3_step(update.get()) != SQLITE_DONE) copy_.refuse("change");
    }
  }

  Database& copy_;
  const std::set<std::string>& allowed_;
  uint64_t removed_ = 0;
};

uint64_t scrub_copy(const path& original, const path& copy_file,
                    const std::set<std::string>& allowed) {
  Database(original, SQLITE_OPEN_READONLY).execute("VACUUM INTO " + sql_text(copy_file));
  Database copy(copy_file, SQLITE_OPEN_READWRITE);
  // Overwrites replaced data with zeros. A journal would store it again, and the copy is ours
  // alone.
  for (const char* setting : {"PRAGMA secure_delete = ON", "PRAGMA journal_mode = OFF", "BEGIN"}) {
    copy.execute(setting);
  }
  const uint64_t removed = Scrubber(copy, allowed).run();
  copy.execute("COMMIT");
  return removed;
}

}  // namespace

Result<uint64_t> scrub_environment(const path& sqlite_export,
                                   const std::set<std::string>& allowed) {
  const path copy_file = path(sqlite_export).concat(".scrubbed.tmp");
  std::error_code status;
  std::filesystem::remove(copy_file, status);
  auto removed = attempt([&] { return scrub_copy(sqlite_export, copy_file, allowed); });
  if (removed) {
    std::filesystem::rename(copy_file, sqlite_export, status);
    if (status) {
      removed = fail_with(system_error(ErrorKind::tool, sqlite_export, status.value()));
    }
  }
  std::filesystem::remove(copy_file, status);
  return removed;
}

}  // namespace llmprof::capture
