#include "query/engine/virtual_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/needed.h"
#include "base/text.h"
#include "query/engine/selection.h"
#include "query/engine/sqlite_values.h"

namespace llmprof::query {
namespace {

constexpr std::string_view kStep = "step";

// SQLite's structs come first, so that pointers to them are pointers to ours.
struct VirtualTable : sqlite3_vtab {
  TableContext* context = nullptr;
  const Table* table = nullptr;
  // A hidden column behind all others that must equal this one: the argument of a table function.
  std::optional<size_t> argument;
};

struct Cursor : sqlite3_vtab_cursor {
  TableRows* rows = nullptr;
  const char* plan_text = nullptr;  // of `plan`: SQLite keeps it as long as the statement
  RowPlan plan;
  std::vector<std::optional<Value>> wanted;
  Selection selection;
  TableRows::Place place;  // of the current row
  std::string scratch;
};

VirtualTable& table_of(sqlite3_vtab* table) { return *static_cast<VirtualTable*>(table); }
VirtualTable& table_of(sqlite3_vtab_cursor* cursor) { return table_of(cursor->pVtab); }
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

int fail_table(sqlite3_vtab* table, std::string_view message) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%.*s", static_cast<int>(message.size()), message.data());
  return SQLITE_ERROR;
}

// Our code may throw (memory, errors of reading); SQLite's cannot be unwound.
template <class Work>
int guarded(sqlite3_vtab* table, const Work& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    table_of(table).context->error = failure.error();
    return fail_table(table, failure.error().message);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

std::string_view declared_type(ColumnType type) {
  if (type == ColumnType::text) return "TEXT";
  return type == ColumnType::real ? "REAL" : "INTEGER";
}

std::string declaration(const Table& table, bool with_argument) {
  std::string text = "CREATE TABLE t(\"run\" TEXT";
  for (const ColumnInfo& column : table.columns) {
    text += fmt::format(", \"{}\" {}", column.name, declared_type(column.type));
  }
  if (with_argument) text += ", of_step INTEGER HIDDEN";
  return text + ")";
}

// Column 0 is the run.
size_t column_named(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &ColumnInfo::name);
  return static_cast<size_t>(found - table.columns.begin()) + 1;
}

// argv[2] is the table's name.
int connect(sqlite3* database, void* shared, int /*count*/, const char* const* words,
            sqlite3_vtab** made, char** error) {
  auto& context = *static_cast<TableContext*>(shared);
  const bool is_function = words[2] == kKernelsOf;
  const Table* const table = context.catalog.find(is_function ? "kernels" : words[2]);
  if (table == nullptr) {
    *error = sqlite3_mprintf("no such table: %s", words[2]);
    return SQLITE_ERROR;
  }
  if (const int state = sqlite3_declare_vtab(database, declaration(*table, is_function).c_str());
      state != SQLITE_OK) {
    return state;
  }
  auto* const own = new (std::nothrow) VirtualTable();
  if (own == nullptr) return SQLITE_NOMEM;
  own->context = &context;
  own->table = table;
  if (is_function) own->argument = column_named(*table, kStep);
  *made = own;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete &table_of(table);
  return SQLITE_OK;
}

class Planner {
 public:
  Planner(const VirtualTable& of, TableRows& rows, sqlite3_index_info& info)
      : of_(of), rows_(rows), info_(info) {}

  int plan() {
    for (int i = 0; i < info_.nConstraint; ++i) add_constraint(i);
    omit_exact();
    if (of_.argument && !has_argument_) {
      return argument_later_
                 ? SQLITE_CONSTRAINT
                 : fail_table(info_table(), fmt::format("{0} needs the index of a step: "
                                                        "{0}(31)",
                                                        kKernelsOf));
    }
    info_.orderByConsumed = add_order() ? 1 : 0;
    const double all = std::max(1.0, static_cast<double>(rows_.size()));
    const double share = std::max(1.0, all * share_);
    info_.estimatedRows = static_cast<sqlite3_int64>(share);
    info_.estimatedCost = share * (plan_.keys.empty() ? 1 : 2);
    info_.idxStr = sqlite3_mprintf("%s", to_text(plan_).c_str());
    info_.needToFreeIdxStr = 1;
    return info_.idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  }

 private:
  using Order = ColumnInfo::Order;
  using Test = RowPlan::Test;

  [[nodiscard]] sqlite3_vtab* info_table() const {
    return const_cast<VirtualTable*>(&of_);  // to set its message
  }
  [[nodiscard]] Order order_of(size_t column) const {
    return column == 0 ? Order::none : of_.table->columns[column - 1].order;
  }

  [[nodiscard]] bool is_ascending(size_t column) const {
    return order_of(column) == Order::ascending && rows_.is_ascending(column);
  }

  void add_constraint(int i) {
    const auto& constraint = info_.aConstraint[i];
    if (constraint.iColumn < 0) return;
    auto column = static_cast<size_t>(constraint.iColumn);
    const bool is_argument = of_.argument && column == of_.table->columns.size() + 1;
    if (is_argument) column = *of_.argument;
    const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (is_argument && equal && constraint.usable == 0) argument_later_ = true;
    if (constraint.usable == 0) return;
    // Other collations call more texts equal than our order does.
    if (std::string_view(sqlite3_vtab_collation(&info_, i)) != "BINARY") return;
    const bool ascending = is_ascending(column);
    std::optional<Test> test;
    if (equal &&
        (is_argument || ascending || order_of(column) == Order::row || rows_.is_coded(column))) {
      test = Test::equal;
      share_ *= order_of(column) == Order::row || ascending ? 0 : rows_.share_of_value(column);
    } else if (ascending) {
      test = range_test(constraint.op);
      if (test) share_ *= kShareOfRange;
    }
    if (!test) return;
    plan_.constraints.push_back({*test, column});
    info_.aConstraintUsage[i].argvIndex = static_cast<int>(plan_.constraints.size());
    if (is_argument) {
      has_argument_ = true;
      info_.aConstraintUsage[i].omit = 1;
    } else if (*test != Test::equal && is_number_known(i) &&
               of_.table->columns[column - 1].type == ColumnType::integer) {
      exact_.push_back(i);
    }
  }
  static std::optional<Test> range_test(unsigned char op) {
    switch (op) {
      case SQLITE_INDEX_CONSTRAINT_GT:
        return Test::above;
      case SQLITE_INDEX_CONSTRAINT_GE:
        return Test::at_least;
      case SQLITE_INDEX_CONSTRAINT_LT:
        return Test::below;
      case SQLITE_INDEX_CONSTRAINT_LE:
        return Test::at_most;
      default:
        return std::nullopt;
    }
  }
  // Whether a column is compared with a number, so that SQLite's rules for other types are not
  // needed.
  bool is_number_known(int constraint) {
    sqlite3_value* value = nullptr;
    if (sqlite3_vtab_rhs_value(&info_, constraint, &value) != SQLITE_OK) return false;
    const int type = sqlite3_value_type(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  }
  // Ranges are found exactly, so that SQLite need not check each row again; not if an equality is
  // looked up instead.
  void omit_exact() {
    const bool looks_up = std::ranges::any_of(
        plan_.constraints, [](const auto& each) { return each.test == Test::equal; });
    if (looks_up) return;
    for (const int i : exact_) info_.aConstraintUsage[i].omit = 1;
  }

  // Whether rows can be handed over in the order that is wanted. Groups are handed over in true
  // order: SQLite relies on it for `GROUP BY x ORDER BY x`.
  bool add_order() {
    if (info_.nOrderBy == 0) return false;
    RowPlan wanted;
    for (int i = 0; i < info_.nOrderBy; ++i) {
      if (info_.aOrderBy[i].iColumn < 0) return false;
      const auto column = static_cast<size_t>(info_.aOrderBy[i].iColumn);
      if (column > of_.table->columns.size()) return false;
      const bool descending = info_.aOrderBy[i].desc != 0;
      const bool natural =
          rows_.parts() == 1 && (order_of(column) == Order::row || is_ascending(column));
      if (natural && i + 1 == info_.nOrderBy && (!descending || wanted.keys.empty())) {
        wanted.descending = descending;
        break;
      }
      if (!rows_.is_coded(column)) return false;
      wanted.keys.push_back({column, descending});
    }
    plan_.keys = std::move(wanted.keys);
    plan_.descending = wanted.descending;
    return true;
  }

  // A guess, of all rows: on one side of a time.
  static constexpr double kShareOfRange = 0.2;

  const VirtualTable& of_;
  TableRows& rows_;
  sqlite3_index_info& info_;
  RowPlan plan_;
  std::vector<int> exact_;  // constraints
  double share_ = 1;
  bool has_argument_ = false;
  bool argument_later_ = false;
};

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  return guarded(table, [&] {
    VirtualTable& own = table_of(table);
    own.context->used.insert(own.table);
    return Planner(own, own.context->catalog.rows(*own.table), *info).plan();
  });
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  return guarded(table, [&] {
    VirtualTable& own = table_of(table);
    auto* const cursor = new (std::nothrow) Cursor();
    if (cursor == nullptr) return SQLITE_NOMEM;
    cursor->rows = &own.context->catalog.rows(*own.table);
    *made = cursor;
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

void enter_row(Cursor& cursor) {
  if (!cursor.selection.at_end()) cursor.place = cursor.rows->place_of(cursor.selection.row());
}

// The value to look for in a column; none if its type is another, so that SQLite's own rules for
// comparing decide.
std::optional<Value> sought(sqlite3_value* value, const Table& table, size_t column) {
  const Value found = value_of(value);
  if (found.kind == Value::Kind::null) return std::nullopt;
  const bool text = column == 0 || table.columns[column - 1].type == ColumnType::text;
  if (text != (found.kind == Value::Kind::text)) return std::nullopt;
  return found;
}

int filter(sqlite3_vtab_cursor* cursor, int /*plan*/, const char* plan_text, int count,
           sqlite3_value** values) {
  return guarded(cursor->pVtab, [&] {
    VirtualTable& own = table_of(cursor);
    Cursor& here = cursor_of(cursor);
    // A join comes here for each row of another table.
    if (here.plan_text != plan_text) {
      here.plan = plan_of(plan_text);
      here.plan_text = plan_text;
    }
    here.wanted.clear();
    bool possible = true;
    for (int i = 0; i < count; ++i) {
      const size_t column = here.plan.constraints[static_cast<size_t>(i)].column;
      here.wanted.push_back(sought(values[i], *own.table, column));
      // Nothing equals null. SQLite does not check the argument of a function again.
      possible = possible && sqlite3_value_type(values[i]) != SQLITE_NULL &&
                 (here.wanted.back() || column != own.argument);
    }
    if (possible) {
      here.selection.select(*here.rows, *own.table, here.plan, here.wanted);
    } else {
      here.selection.select_nothing();
    }
    enter_row(here);
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  Cursor& here = cursor_of(cursor);
  here.selection.next();
  enter_row(here);
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).selection.at_end() ? 1 : 0; }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int index) {
  Cursor& here = cursor_of(cursor);
  const VirtualTable& own = table_of(cursor);
  auto of = static_cast<size_t>(index);
  if (of > own.table->columns.size()) of = *own.argument;
  const Value* const grouped = here.selection.grouped_value(of);
  const Value value =
      grouped != nullptr ? *grouped : here.rows->value(here.place, of, here.scratch);
  switch (value.kind) {
    case Value::Kind::null:
      break;
    case Value::Kind::integer:
      sqlite3_result_int64(result, value.integer);
      break;
    case Value::Kind::real:
      sqlite3_result_double(result, value.real);
      break;
    case Value::Kind::text: {
      const bool own_text = value.text.data() != here.scratch.data();
      sqlite3_result_text64(result, value.text.data(), value.text.size(),
                            own_text ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
      break;
    }
  }
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = cursor_of(cursor).selection.row();
  return SQLITE_OK;
}

const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xCreate = connect;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = column;
  module.xRowid = row_id;
  return module;
}();

}  // namespace

Result<void> create_tables(sqlite3* database, TableContext& context) {
  int state = sqlite3_create_module(database, "llmprof", &kModule, &context);
  const auto create = [&](std::string_view name) {
    if (state != SQLITE_OK) return;
    const std::string sql = fmt::format("CREATE VIRTUAL TABLE \"{}\" USING llmprof", name);
    state = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  };
  for (const Table& table : context.catalog.tables()) create(table.name);
  if (context.catalog.find("kernels") != nullptr) create(kKernelsOf);
  if (state == SQLITE_OK) return {};
  return fail(ErrorKind::internal,
              fmt::format("the tables cannot be made: {}", sqlite3_errmsg(database)));
}

}  // namespace llmprof::query
