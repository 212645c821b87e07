#include "readers/nsys_sqlite/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <algorithm>
#include <new>

#include "base/text.h"

namespace llmprof::readers {
namespace {

// The path, escaped for a file: URI.
std::string uri_path(const std::filesystem::path& path) {
  std::string uri;
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri;
}

// In quotes, with inner quotes doubled.
std::string quoted(std::string_view text, char quote) {
  std::string made(1, quote);
  for (const char c : text) {
    if (c == quote) made += c;
    made += c;
  }
  return made + quote;
}

// 1 for the name itself, n for "name_Vn", 0 for another table.
int64_t version_of(std::string_view candidate, std::string_view table) {
  if (!candidate.starts_with(table)) return 0;
  candidate.remove_prefix(table.size());
  if (candidate.empty()) return 1;
  if (!candidate.starts_with("_V")) return 0;
  return parse_int(candidate.substr(2)).value_or(0);
}

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Lack of memory says nothing about the file: it is neither damaged nor without that table.
void check_memory(int status) {
  if ((status & 0xff) == SQLITE_NOMEM) throw std::bad_alloc();
}

}  // namespace

bool SqliteRows::next() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  check_memory(status);
  if (status != SQLITE_DONE) damage_ = sqlite3_errmsg(sqlite3_db_handle(statement_.get()));
  return false;
}

std::string_view SqliteRows::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) {
    check_memory(sqlite3_errcode(sqlite3_db_handle(statement_.get())));
    return {};
  }
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void SqliteRows::take(RowValues& values) const {
  sqlite3_stmt* row = statement_.get();
  for (int column = 0; column < sqlite3_column_count(row); ++column) {
    const auto slot = static_cast<size_t>(column);
    switch (sqlite3_column_type(row, column)) {
      case SQLITE_INTEGER:
      case SQLITE_FLOAT:
        values.set_integer(slot, integer(column));
        break;
      case SQLITE_TEXT:
        values.set_text(slot, text(column));
        break;
      case SQLITE_BLOB: {
        const auto* data = static_cast<const char*>(sqlite3_column_blob(row, column));
        const auto size = static_cast<size_t>(sqlite3_column_bytes(row, column));
        values.set_bytes(slot, {data, data == nullptr ? 0 : size});
        break;
      }
      default:
        values.set_null(slot);
    }
  }
}

Result<SqliteFile> SqliteFile::open(const std::filesystem::path& path) {
  const std::string uri = fmt::format("file:{}?mode=ro&immutable=1", uri_path(path));
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(uri.c_str(), &database, kFlags, nullptr);
  SqliteFile file;
  file.database_.reset(database);
  check_memory(status);
  if (status != SQLITE_OK) {
    return fail_input(
        fmt::format("{}: cannot open as SQLite: {}", path.string(), sqlite3_errmsg(database)));
  }
  // A hostile schema must not run code, and a row longer than this does not come from a profiler.
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 64 << 20);
  return file;
}

SqliteRows SqliteFile::query(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(database_.get(), sql.c_str(),
                                        static_cast<int>(sql.size() + 1), &statement, nullptr);
  check_memory(status);
  if (status != SQLITE_OK) return {};
  return SqliteRows(statement);
}

std::vector<std::string> SqliteFile::tables(std::string& damage) const {
  std::vector<std::string> names;
  SqliteRows rows = query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  if (!rows.valid()) {
    damage = sqlite3_errmsg(database_.get());
    return names;
  }
  while (rows.next()) names.emplace_back(rows.text(0));
  damage = rows.damage();
  return names;
}

std::vector<std::string> SqliteFile::columns(std::string_view table) const {
  std::vector<std::string> names;
  SqliteRows rows = query(fmt::format("PRAGMA table_info({})", sql_name(table)));
  while (rows.valid() && rows.next()) names.emplace_back(rows.text(1));
  return names;
}

std::optional<TableLayout> SqliteFile::layout(std::string_view table,
                                              std::span<const std::string> wanted) const {
  TableLayout layout;
  SqliteRows root = query(
      "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND "
      "name = " +
      quoted(table, '\''));
  if (!root.valid() || !root.next()) return std::nullopt;
  layout.root_page = static_cast<uint32_t>(root.integer(0));
  enum Info : int { kName = 1, kDefault = 4, kKey = 5, kHidden = 6 };
  SqliteRows columns = query(fmt::format("PRAGMA table_xinfo({})", sql_name(table)));
  size_t last_wanted = 0;
  while (columns.valid() && columns.next()) {
    const bool hides_row_ids = equals_ignoring_case(columns.text(kName), "rowid");
    if (columns.integer(kHidden) != 0 || hides_row_ids) return std::nullopt;
    const auto found = std::find(wanted.begin(), wanted.end(), columns.text(kName));
    const bool is_wanted = found != wanted.end() && !found->empty();
    if (is_wanted && (columns.integer(kKey) != 0 || !columns.is_null(kDefault))) {
      return std::nullopt;
    }
    layout.slots.push_back(is_wanted ? static_cast<int>(found - wanted.begin()) : -1);
    if (is_wanted) last_wanted = layout.slots.size();
  }
  layout.slots.resize(last_wanted);
  return layout;
}

std::string sql_name(std::string_view name) { return quoted(name, '"'); }

std::optional<std::string> NsysSchema::find(std::string_view table) const {
  const std::string* best = nullptr;
  int64_t newest = 0;
  for (const std::string& candidate : tables_) {
    if (const int64_t version = version_of(candidate, table); version > newest) {
      newest = version;
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

bool NsysSchema::is_nsys() const {
  return !is_nvprof() && find("StringIds") &&
         std::any_of(tables_.begin(), tables_.end(), [](std::string_view table) {
           return table.starts_with("CUPTI_ACTIVITY_KIND_") || table == "NVTX_EVENTS" ||
                  table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA" ||
                  table == "ANALYSIS_DETAILS" || table == "OSRT_API";
         });
}

bool NsysSchema::is_nvprof() const {
  return listed(tables_, "StringTable") && !listed(tables_, "StringIds");
}

std::vector<std::string> NsysSchema::columns(std::string_view table,
                                             std::string_view wanted) const {
  const std::vector<std::string> present = file_->columns(table);
  std::vector<std::string> found;
  for (const std::string_view alternatives : split(wanted, ',')) {
    std::string& column = found.emplace_back();
    for (const std::string_view name : split(alternatives, '|')) {
      if (column.empty() && listed(present, name)) column = name;
    }
  }
  return found;
}

bool NsysSchema::has_column(std::string_view table, std::string_view column) const {
  return listed(file_->columns(table), column);
}

std::string select_columns(std::string_view table, std::span<const std::string> columns) {
  std::string list;
  for (const std::string& column : columns) {
    if (!list.empty()) list += ", ";
    list += column.empty() ? "NULL" : sql_name(column);
  }
  return "SELECT " + list + " FROM " + sql_name(table);
}

}  // namespace llmprof::readers
