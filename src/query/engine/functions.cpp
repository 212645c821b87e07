#include "query/engine/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/quantiles.h"
#include "query/engine/sqlite_values.h"
#include "query/engine/virtual_tables.h"

namespace llmprof::query {
namespace {

constexpr std::array<FunctionInfo, 6> kFunctions = {{
    {"interval_union", "interval_union(start, end)",
     "aggregate: the time that intervals cover together; overlapping ones count once"},
    {"overlap", "overlap(start1, end1, start2, end2)",
     "the time that two intervals have in common; 0 if none"},
    {"bucket", "bucket(value, width)",
     "the largest multiple of width up to value, to group by time or size"},
    {"percentile", "percentile(value, percent)",
     "aggregate: a percentile by nearest rank, which is one of the values: percentile(wall_ms, "
     "99)"},
    {"kernels_of", "kernels_of(step)",
     "table function: the kernels of one step, with the columns of kernels"},
    {"short_name", "short_name(kernel_name)",
     "the short name of a kernel of these runs; null for other texts"},
}};

// Values that an aggregate collects, in SQLite's memory, whose limit they count against. It lies in
// memory that SQLite fills with zeros, so that it has no constructor.
template <class T>
struct Collected {
  static_assert(std::is_trivially_copyable_v<T>);
  T* values;
  uint64_t size;
  uint64_t capacity;

  bool add(const T& value) {
    if (size == capacity) {
      const uint64_t larger = std::max<uint64_t>(64, capacity * 2);
      void* const moved = sqlite3_realloc64(values, larger * sizeof(T));
      if (moved == nullptr) return false;
      values = static_cast<T*>(moved);
      capacity = larger;
    }
    values[size++] = value;
    return true;
  }
  [[nodiscard]] std::span<T> all() const { return {values, size}; }
  void release() { sqlite3_free(values); }
};

template <class Aggregate>
Aggregate* aggregate_of(sqlite3_context* context, bool make) {
  return static_cast<Aggregate*>(
      sqlite3_aggregate_context(context, make ? static_cast<int>(sizeof(Aggregate)) : 0));
}

bool any_null(std::span<sqlite3_value*> values) {
  return std::ranges::any_of(
      values, [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; });
}
std::span<sqlite3_value*> given(int count, sqlite3_value** values) {
  return {values, static_cast<size_t>(count)};
}

struct TimeInterval {
  int64_t start;
  int64_t end;
};
using Intervals = Collected<TimeInterval>;

void add_interval(sqlite3_context* context, int count, sqlite3_value** values) {
  if (any_null(given(count, values))) return;
  const TimeInterval next{sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])};
  if (next.end <= next.start) return;
  auto* const intervals = aggregate_of<Intervals>(context, true);
  if (intervals == nullptr) return sqlite3_result_error_nomem(context);
  // Mostly in order: what continues the last interval lengthens it.
  if (intervals->size > 0) {
    TimeInterval& last = intervals->values[intervals->size - 1];
    if (next.start >= last.start && next.start <= last.end) {
      last.end = std::max(last.end, next.end);
      return;
    }
  }
  if (!intervals->add(next)) sqlite3_result_error_nomem(context);
}

void finish_union(sqlite3_context* context) {
  auto* const intervals = aggregate_of<Intervals>(context, false);
  if (intervals == nullptr) return sqlite3_result_int64(context, 0);
  const auto all = intervals->all();
  std::ranges::sort(all, {}, &TimeInterval::start);
  int64_t covered = 0;
  int64_t until = INT64_MIN;
  for (const auto& [start, end] : all) {
    if (end <= until) continue;
    covered += end - std::max(start, until);
    until = end;
  }
  intervals->release();
  sqlite3_result_int64(context, covered);
}

struct Ranked {
  Collected<Value> values;
  double fraction;
};

void add_ranked(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  auto* const ranked = aggregate_of<Ranked>(context, true);
  if (ranked == nullptr) return sqlite3_result_error_nomem(context);
  const double percent = sqlite3_value_double(values[1]);
  if (percent < 0 || percent > 100) {
    return sqlite3_result_error(context, "percentile: the percent must be 0 to 100", -1);
  }
  ranked->fraction = percent / 100;
  const Value value = value_of(values[0]);
  if (value.kind == Value::Kind::null) return;
  if (value.kind == Value::Kind::text) {
    return sqlite3_result_error(context, "percentile: the values must be numbers", -1);
  }
  if (!ranked->values.add(value)) sqlite3_result_error_nomem(context);
}

void finish_percentile(sqlite3_context* context) {
  auto* const ranked = aggregate_of<Ranked>(context, false);
  if (ranked == nullptr) return;
  const auto all = ranked->values.all();
  if (!all.empty()) {
    const auto place =
        all.begin() + static_cast<std::ptrdiff_t>(nearest_rank_of(all.size(), ranked->fraction));
    std::nth_element(all.begin(), place, all.end(), precedes);
    if (place->kind == Value::Kind::integer) {
      sqlite3_result_int64(context, place->integer);
    } else {
      sqlite3_result_double(context, place->real);
    }
  }
  ranked->values.release();
}

void overlap(sqlite3_context* context, int count, sqlite3_value** values) {
  if (any_null(given(count, values))) return;
  const auto time = [&](size_t i) { return sqlite3_value_int64(values[i]); };
  const sqlite3_int64 start = std::max(time(0), time(2));
  const sqlite3_int64 end = std::min(time(1), time(3));
  sqlite3_result_int64(context, end > start ? end - start : 0);
}

void bucket(sqlite3_context* context, int count, sqlite3_value** values) {
  if (any_null(given(count, values))) return;
  const Value value = value_of(values[0]);
  const Value width = value_of(values[1]);
  const bool whole = value.kind == Value::Kind::integer && width.kind == Value::Kind::integer;
  const double real_width = sqlite3_value_double(values[1]);
  if (!(real_width > 0) || !std::isfinite(real_width)) {
    return sqlite3_result_error(context, "bucket: the width must be above 0", -1);
  }
  if (whole) {
    const int64_t rest = value.integer % width.integer;
    const int64_t above = rest < 0 ? rest + width.integer : rest;
    // The lowest bucket may start below the smallest integer.
    if (value.integer < INT64_MIN + above) return;
    return sqlite3_result_int64(context, value.integer - above);
  }
  sqlite3_result_double(context,
                        std::floor(sqlite3_value_double(values[0]) / real_width) * real_width);
}

void short_name(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const Value kernel = value_of(values[0]);
  if (kernel.kind != Value::Kind::text) return;
  auto& catalog = *static_cast<Catalog*>(sqlite3_user_data(context));
  if (const auto name = catalog.short_name(kernel.text)) {
    sqlite3_result_text64(context, name->data(), name->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

}  // namespace

std::span<const FunctionInfo> own_functions() { return kFunctions; }

bool is_own_function(std::string_view name) {
  return std::ranges::find(kFunctions, name, &FunctionInfo::name) != kFunctions.end();
}

Result<void> create_functions(sqlite3* database, Catalog& catalog) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  int state = SQLITE_OK;
  using Call = void (*)(sqlite3_context*, int, sqlite3_value**);
  const auto create = [&](const char* name, int arguments, Call call, Call step,
                          void (*finish)(sqlite3_context*)) {
    if (state != SQLITE_OK) return;
    state = sqlite3_create_function_v2(database, name, arguments, kFlags, &catalog, call, step,
                                       finish, nullptr);
  };
  create("interval_union", 2, nullptr, add_interval, finish_union);
  create("percentile", 2, nullptr, add_ranked, finish_percentile);
  create("overlap", 4, overlap, nullptr, nullptr);
  create("bucket", 2, bucket, nullptr, nullptr);
  create("short_name", 1, short_name, nullptr, nullptr);
  if (state == SQLITE_OK) return {};
  return fail(ErrorKind::internal,
              fmt::format("the functions cannot be made: {}", sqlite3_errmsg(database)));
}

}  // namespace llmprof::query
