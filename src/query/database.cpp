#include "query/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/needed.h"
#include "base/text.h"
#include "query/engine/safety.h"
#include "query/engine/sqlite_values.h"
#include "query/engine/statements.h"
#include "query/engine/suggestions.h"
#include "query/engine/virtual_tables.h"
#include "query/tables.h"

namespace llmprof::query {
namespace {

// For preparing a statement: nested table expressions can double with each level.
constexpr uint64_t kPreparingMemory = 64 << 20;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

std::string_view text_or_empty(const char* text) { return text == nullptr ? "" : text; }

Value value_in(sqlite3_stmt* statement, int column) {
  return value_of(sqlite3_column_value(statement, column));
}

uint64_t bytes_of(const Value& value) {
  constexpr uint64_t kNumber = 8;
  return value.kind == Value::Kind::text ? value.text.size() : kNumber;
}

}  // namespace

class Database::Connection {
 public:
  explicit Connection(std::vector<Run> runs) : catalog_(all_tables(), std::move(runs)) {
    sqlite3* database = nullptr;
    // What is sorted goes to files of SQLite's file system in memory: it counts against the limit
    // of memory, and nothing reaches a disk. Sorting in `temp_store = MEMORY` takes twice as long,
    // because it sorts all rows at once, not pieces that fit into the caches.
    const int state =
        sqlite3_open_v2(":memory:", &database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, "memdb");
    database_.reset(database);
    if (state != SQLITE_OK) give_up(ErrorKind::internal, "SQLite cannot be started");
    sqlite3_exec(database, "PRAGMA temp_store = FILE", nullptr, nullptr, nullptr);
    needed(create_tables(database, context_));
    needed(create_functions(database, catalog_));
    // Tables of SQLite's own are made when they are first used, which the guard would refuse.
    for (const char* const sql :
         {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')",
          "SELECT 1 FROM pragma_table_info('x')", "SELECT 1 FROM pragma_table_xinfo('x')",
          "SELECT 1 FROM pragma_table_list"}) {
      sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
    }
    guard_.close_in(database);
  }

  Catalog& catalog() { return catalog_; }

  Answer ask(const Question& question, AnswerSink& sink) {
    const auto begun = std::chrono::steady_clock::now();
    context_.used.clear();
    context_.error.reset();
    load_tables_in(question.sql);
    guard_.begin(question.limits);
    const Statement statement = prepare(question.sql);
    bind(statement.get(), question.parameters);
    sink.begin(columns_of(statement.get()));
    Answer answer;
    {
      const MemoryLimit memory(question.limits.memory);
      run(statement.get(), question, sink, answer);
    }
    for (const Table* const table : context_.used) {
      const auto& notes = catalog_.notes(*table);
      answer.notes.insert(answer.notes.end(), notes.begin(), notes.end());
    }
    answer.time = std::chrono::steady_clock::now() - begun;
    return answer;
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };

  // Reads what the statement needs before its time and memory are limited. An error belongs to the
  // statement only if it really uses the table.
  void load_tables_in(std::string_view sql) {
    for (const Table& table : catalog_.tables()) {
      const bool of_function = table.name == "kernels" && mentions(sql, kKernelsOf);
      if (!of_function && !mentions(sql, table.name)) continue;
      [[maybe_unused]] const auto loaded = attempt([&] { catalog_.rows(table); });
    }
  }

  Statement prepare(std::string_view sql) {
    if (sql.size() > static_cast<size_t>(kLongestStatement)) {
      give_up(ErrorKind::usage, fmt::format("the statement has {} bytes; the limit is {}",
                                            sql.size(), kLongestStatement));
    }
    if (sql.find('\0') != std::string_view::npos) {
      give_up(ErrorKind::usage, "the statement contains a zero byte");
    }
    const MemoryLimit memory(kPreparingMemory);
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int state =
        sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &made, &rest);
    Statement statement(made);
    if (state != SQLITE_OK) fail_statement(sql);
    if (made == nullptr) give_up(ErrorKind::usage, "the statement is empty");
    // REINDEX and others do nothing here, but are no questions.
    if (sqlite3_stmt_readonly(made) == 0 || sqlite3_column_count(made) == 0) {
      give_up(ErrorKind::usage, std::string(kOnlyReads));
    }
    const std::string_view behind(rest, static_cast<size_t>(sql.data() + sql.size() - rest));
    const Script others = cut_at_semicolons(behind);
    if (!others.statements.empty() || !others.rest.empty()) {
      give_up(ErrorKind::usage, "only one statement at a time");
    }
    return statement;
  }

  static void bind(sqlite3_stmt* statement, const Parameters& parameters) {
    for (const auto& [name, value] : parameters) {
      const int index = sqlite3_bind_parameter_index(statement, (":" + name).c_str());
      if (index == 0) continue;
      std::visit(
          [&](const auto& bound) {
            using Type = std::decay_t<decltype(bound)>;
            if constexpr (std::is_same_v<Type, std::string>) {
              sqlite3_bind_text64(statement, index, bound.data(), bound.size(), SQLITE_TRANSIENT,
                                  SQLITE_UTF8);
            } else if constexpr (std::is_same_v<Type, double>) {
              sqlite3_bind_double(statement, index, bound);
            } else {
              sqlite3_bind_int64(statement, index, bound);
            }
          },
          value);
    }
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
      const std::string_view name = text_or_empty(sqlite3_bind_parameter_name(statement, i));
      if (!name.starts_with(':') || !parameters.contains(std::string(name.substr(1)))) {
        give_up(ErrorKind::usage, fmt::format("the statement has a parameter without a value: {}",
                                              name.empty() ? "?" : name));
      }
    }
  }

  std::vector<AnswerColumn> columns_of(sqlite3_stmt* statement) const {
    std::vector<AnswerColumn> columns;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      AnswerColumn& column = columns.emplace_back();
      column.name = to_printable(text_or_empty(sqlite3_column_name(statement, i)));
      const std::string_view origin = text_or_empty(sqlite3_column_origin_name(statement, i));
      std::string_view owner = text_or_empty(sqlite3_column_table_name(statement, i));
      if (owner == kKernelsOf) owner = "kernels";
      const Table* const table = catalog_.find(owner);
      if (table == nullptr) continue;
      const auto found = std::ranges::find(table->columns, origin, &ColumnInfo::name);
      if (found == table->columns.end()) continue;
      column.type = to_string(found->type);
      column.unit = found->unit;
      column.meaning = found->meaning;
    }
    return columns;
  }

  void run(sqlite3_stmt* statement, const Question& question, AnswerSink& sink, Answer& answer) {
    const Limits& limits = question.limits;
    std::vector<Value> values(static_cast<size_t>(sqlite3_column_count(statement)));
    uint64_t bytes = 0;
    int state = SQLITE_ROW;
    while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
      ++answer.total;
      if (answer.cut != Answer::Cut::none) continue;
      uint64_t own = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = value_in(statement, static_cast<int>(i));
        own += bytes_of(values[i]);
      }
      if (answer.rows == limits.rows) {
        answer.cut = Answer::Cut::rows;
      } else if (bytes + own > limits.bytes) {
        answer.cut = Answer::Cut::bytes;
      } else {
        bytes += own;
        ++answer.rows;
        sink.row(values);
      }
    }
    if (state == SQLITE_DONE) return;
    answer.total_is_complete = false;
    const bool ran_out = guard_.out_of_time() && !guard_.cancelled();
    if (!ran_out || answer.rows == 0) fail_statement(question.sql, &limits);
    if (answer.cut == Answer::Cut::none) answer.cut = Answer::Cut::time;
  }

  [[noreturn]] void fail_statement(std::string_view sql, const Limits* limits = nullptr) {
    const int state = sqlite3_errcode(database_.get());
    if (context_.error) throw Failure(*context_.error);
    if (guard_.cancelled()) give_up(ErrorKind::tool, "the statement was cancelled");
    if (limits != nullptr && guard_.out_of_time()) {
      give_up(ErrorKind::tool,
              fmt::format("the statement took longer than {} s without a row; narrow it, or allow "
                          "more time (--timeout; agents: timeout_s)",
                          static_cast<double>(limits->time.count()) / 1000));
    }
    if (state == SQLITE_NOMEM) {
      give_up(ErrorKind::tool,
              fmt::format("the statement needs more than {} MiB of memory; narrow it, or group "
                          "before sorting",
                          (limits == nullptr ? kPreparingMemory : limits->memory) >> 20U));
    }
    if (!guard_.refused().empty()) give_up(ErrorKind::usage, guard_.refused());
    if (state == SQLITE_TOOBIG) {
      give_up(ErrorKind::usage,
              fmt::format("a text of the statement is longer than {} bytes", kLongestValue));
    }
    give_up(ErrorKind::usage,
            to_printable(with_suggestion(sqlite3_errmsg(database_.get()), sql, catalog_)));
  }

  Catalog catalog_;
  TableContext context_{catalog_};
  Guard guard_{catalog_};
  std::unique_ptr<sqlite3, Close> database_;  // refers to the members above
};

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(std::vector<Run> runs) {
  return attempt([&] {
    return std::unique_ptr<Database>(new Database(std::make_unique<Connection>(std::move(runs))));
  });
}

Result<Answer> Database::ask(const Question& question, AnswerSink& sink) {
  return attempt([&] { return connection_->ask(question, sink); });
}

const std::vector<Table>& Database::tables() const { return connection_->catalog().tables(); }

std::optional<std::string> Database::lack_of(std::string_view table) {
  Catalog& catalog = connection_->catalog();
  const Table* const known = catalog.find(table);
  if (known == nullptr) return fmt::format("{}: no such table", table);
  const auto rows = attempt([&] { catalog.rows(*known); });
  return rows ? std::nullopt : std::optional(rows.error().message);
}

Result<TableRows*> Database::rows_of(const Table& table) {
  return attempt([&] { return &connection_->catalog().rows(table); });
}

std::string cut_note(const Answer& answer) {
  using Cut = Answer::Cut;
  if (answer.cut == Cut::none) return {};
  const std::string_view limit = answer.cut == Cut::rows    ? "rows"
                                 : answer.cut == Cut::bytes ? "bytes"
                                                            : "time";
  if (answer.cut == Cut::time) {
    return fmt::format("the first {}; the limit of time stopped the statement, more may follow",
                       counted(answer.rows, "row"));
  }
  return fmt::format("{} of {}{}, by the limit of {}", answer.rows,
                     answer.total_is_complete ? "" : "at least ", counted(answer.total, "row"),
                     limit);
}

}  // namespace llmprof::query
