#include "query/engine/safety.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/text.h"
#include "query/engine/functions.h"
#include "query/engine/virtual_tables.h"

namespace llmprof::query {
namespace {

// SQLite's functions that only compute. Everything else is refused: load_extension, those that
// depend on the time of day or on chance (an answer can be asked for again), and what a later
// SQLite brings.
constexpr WordList kComputing{
    "abs|changes|char|coalesce|concat|format|glob|hex|ifnull|iif|instr|length|like|likelihood|"
    "likely|"
    "lower|ltrim|max|min|nullif|printf|quote|replace|round|rtrim|sign|soundex|substr|substring|"
    "trim|"
    "typeof|unicode|unlikely|upper|zeroblob|avg|count|group_concat|string_agg|sum|total|row_number|"
    "rank|dense_rank|percent_rank|cume_dist|ntile|lag|lead|first_value|last_value|nth_value|acos|"
    "acosh|asin|asinh|atan|atan2|atanh|ceil|ceiling|cos|cosh|degrees|exp|floor|ln|log|log10|log2|"
    "mod|pi|pow|power|radians|sin|sinh|sqrt|tan|tanh|trunc|json|json_array|json_array_length|"
    "json_each|json_extract|json_group_array|json_group_object|json_insert|json_object|json_patch|"
    "json_quote|json_remove|json_replace|json_set|json_tree|json_type|json_valid|->|->>|"
    "sqlite_version"};

// Tables of SQLite that only list what there is, or read their argument.
constexpr WordList kHarmlessTables{
    "sqlite_master|sqlite_schema|sqlite_temp_master|sqlite_temp_schema|json_each|json_tree|"
    "pragma_table_info|pragma_table_xinfo|pragma_table_list"};
constexpr WordList kHarmlessPragmas{"table_info|table_xinfo|table_list"};

constexpr int kOperationsPerCheck = 1000;

}  // namespace

void Guard::close_in(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  constexpr std::array<std::pair<int, int>, 11> kLimits = {{
      {SQLITE_LIMIT_LENGTH, kLongestValue},
      {SQLITE_LIMIT_SQL_LENGTH, kLongestStatement},
      {SQLITE_LIMIT_COLUMN, 500},
      {SQLITE_LIMIT_EXPR_DEPTH, 200},
      {SQLITE_LIMIT_COMPOUND_SELECT, 100},
      {SQLITE_LIMIT_VDBE_OP, 250'000},
      {SQLITE_LIMIT_FUNCTION_ARG, 100},
      {SQLITE_LIMIT_ATTACHED, 0},
      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
      {SQLITE_LIMIT_WORKER_THREADS, 0},
  }};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
  sqlite3_set_authorizer(database, authorize, this);
  sqlite3_progress_handler(database, kOperationsPerCheck, check_time, this);
}

void Guard::begin(const Limits& limits) {
  end_ = std::chrono::steady_clock::now() + limits.time;
  cancel_ = limits.cancelled;
  out_of_time_ = false;
  cancelled_ = false;
  refused_.clear();
}

int Guard::check_time(void* guard) {
  auto& own = *static_cast<Guard*>(guard);
  if (own.cancel_ != nullptr && *own.cancel_) own.cancelled_ = true;
  if (std::chrono::steady_clock::now() >= own.end_) own.out_of_time_ = true;
  return own.out_of_time_ || own.cancelled_ ? 1 : 0;
}

int Guard::authorize(void* guard, int action, const char* first, const char* second,
                     const char* /*database*/, const char* /*trigger*/) {
  return static_cast<Guard*>(guard)->judge(action, first, second);
}

int Guard::refuse(std::string what) {
  if (refused_.empty()) refused_ = std::move(what);
  return SQLITE_DENY;
}

int Guard::judge(int action, const char* first, const char* second) {
  const std::string_view name = first == nullptr ? "" : first;
  const std::string_view detail = second == nullptr ? "" : second;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_READ:
      // Without a column: rows are counted, perhaps those of a subquery.
      if (detail.empty() || catalog_.find(name) != nullptr || name == kKernelsOf ||
          kHarmlessTables.contains(name)) {
        return SQLITE_OK;
      }
      return refuse(fmt::format("the table {} is not available", to_printable(name)));
    case SQLITE_FUNCTION:
      if (kComputing.contains(detail) || is_own_function(detail)) return SQLITE_OK;
      return refuse(fmt::format("the function {} is not available", to_printable(detail)));
    case SQLITE_PRAGMA: {
      if (kHarmlessPragmas.contains(name)) return SQLITE_OK;
      return refuse(fmt::format("PRAGMA {} is not available", to_printable(name)));
    }
    default:
      return refuse(std::string(kOnlyReads));
  }
}

}  // namespace llmprof::query
