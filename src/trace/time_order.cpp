#include "trace/time_order.h"

#include <algorithm>
#include <future>

namespace llmprof {
namespace {

struct Row {
  Nanoseconds start;
  uint32_t row;
};

bool before(const Row& a, const Row& b) {
  return a.start != b.start ? a.start < b.start : a.row < b.row;
}

std::vector<Row> order_of(const std::vector<Nanoseconds>& start) {
  std::vector<Row> order(start.size());
  for (size_t i = 0; i < start.size(); ++i) order[i] = {start[i], static_cast<uint32_t>(i)};
  constexpr size_t kWorthAThread = 1UL << 16U;
  if (order.size() < kWorthAThread) {
    std::sort(order.begin(), order.end(), before);
    return order;
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), before);
  auto upper = std::async(std::launch::async, [&] { std::sort(middle, order.end(), before); });
  std::sort(order.begin(), middle, before);
  upper.get();
  return order;
}

template <class Value>
void permute(std::vector<Value>& column, const std::vector<Row>& order) {
  if (column.empty()) return;
  std::vector<Value> ordered(column.size());
  for (size_t i = 0; i < order.size(); ++i) ordered[i] = column[order[i].row];
  column.swap(ordered);
}

// Captures that do not know an optional column may follow one that does.
template <class Table>
void complete_columns(Table& table) {
  const auto complete = [&](auto& column) {
    if (!column.empty()) column.resize(table.size());
  };
  std::apply([&](auto&... column) { (complete(column), ...); }, table.columns());
}

template <class Table>
void order_table(Table& table) {
  complete_columns(table);
  if (std::is_sorted(table.start.begin(), table.start.end())) return;
  const std::vector<Row> order = order_of(table.start);
  std::apply([&](auto&... column) { (permute(column, order), ...); }, table.columns());
}

}  // namespace

void order_by_start(Trace& trace) {
  order_table(trace.kernels);
  order_table(trace.memory_operations);
  order_table(trace.graph_replays);
  complete_columns(trace.operators);
}

}  // namespace llmprof
