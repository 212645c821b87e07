#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace llmprof::trace {

// Calls use(column) for each column.
template <class Table, class Use>
void each_column(Table& table, const Use& use) {
  std::apply([&](auto&... column) { (use(column), ...); }, table.columns());
}

// Adds one row: values of the first columns, in the order of `columns()`. The remaining columns are
// optional.
template <class Table, class... Value>
void add_row(Table& table, const Value&... value) {
  auto columns = table.columns();
  [&]<size_t... I>(std::index_sequence<I...>) {
    (std::get<I>(columns).emplace_back(value), ...);
  }(std::index_sequence_for<Value...>());
}

// Removes the rows; the columns keep their capacity.
template <class Table>
void clear_rows(Table& table) {
  each_column(table, [](auto& column) { column.clear(); });
}

// Moves the rows of one table to the end of another of its type. Columns that only one of the two
// has are filled up with the value for "none".
template <class Table>
void append_rows(Table& to, Table& from) {
  if (to.size() == 0) {
    std::swap(to, from);
    return;
  }
  const size_t before = to.size();
  const size_t added = from.size();
  const auto append = [&](auto& column, auto& more) {
    if (column.empty() && more.empty()) return;
    column.resize(before);
    column.insert(column.end(), more.begin(), more.end());
    column.resize(before + added);
  };
  auto columns = to.columns();
  auto others = from.columns();
  [&]<size_t... I>(std::index_sequence<I...>) {
    (append(std::get<I>(columns), std::get<I>(others)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(columns)>>());
  clear_rows(from);
}

}  // namespace llmprof::trace
