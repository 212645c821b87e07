#include "query/engine/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::query {
namespace {

using Order = ColumnInfo::Order;
using Test = RowPlan::Test;

Order order_of(const Table& table, size_t column) {
  return column == 0 ? Order::none : table.columns[column - 1].order;
}

bool may_be_searched(TableRows& rows, const Table& table, size_t column) {
  return order_of(table, column) == Order::ascending && rows.is_ascending(column);
}

}  // namespace

// "=3>5|7-2+|d": constraints, keys, direction.
std::string to_text(const RowPlan& plan) {
  std::string text;
  for (const auto& [test, column] : plan.constraints) {
    text += fmt::format("{}{}", static_cast<char>(test), column);
  }
  text += '|';
  for (const TableRows::Key& key : plan.keys) {
    text += fmt::format("{}{}", key.descending ? '-' : '+', key.column);
  }
  return text + (plan.descending ? "|d" : "|");
}

RowPlan plan_of(std::string_view text) {
  RowPlan plan;
  size_t section = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '|') {
      ++section;
      continue;
    }
    if (section == 2) {
      plan.descending = true;
      continue;
    }
    const char sign = text[i];
    size_t column = 0;
    while (i + 1 < text.size() && is_digit(text[i + 1])) {
      column = column * 10 + static_cast<size_t>(text[++i] - '0');
    }
    if (section == 0) {
      plan.constraints.push_back({static_cast<RowPlan::Test>(sign), column});
    } else {
      plan.keys.push_back({column, sign == '-'});
    }
  }
  return plan;
}

void Selection::clear() {
  pieces_.clear();
  list_.reset();
  groups_ = {};
  group_column_ = SIZE_MAX;
  group_ = 0;
  piece_ = 0;
  at_ = 0;
  backwards_ = false;
}

void Selection::select_equal(TableRows& rows, const RowPlan::Constraint& constraint,
                             const Value& value) {
  list_ = rows.grouped(constraint.column);
  const auto found = rows.rows_with(constraint.column, value, *list_);
  if (!found.empty()) pieces_.push_back({0, static_cast<uint32_t>(found.size()), found.data()});
}

void Selection::select_ranges(TableRows& rows, const Table& table, const RowPlan& plan,
                              std::span<const std::optional<Value>> values) {
  for (size_t part = 0; part < rows.parts(); ++part) {
    TableRows::Range range = rows.all_of(part);
    for (size_t i = 0; i < plan.constraints.size(); ++i) {
      const auto& [test, column] = plan.constraints[i];
      if (!values[i] || !may_be_searched(rows, table, column)) continue;
      TableRows::Bound least;
      TableRows::Bound most;
      if (test != Test::at_most && test != Test::below) {
        least = {&*values[i], test == Test::above};
      }
      if (test != Test::at_least && test != Test::above) {
        most = {&*values[i], test == Test::below};
      }
      const auto own = rows.between(part, column, least, most);
      range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
      range.end = std::max(range.begin, range.end);
    }
    pieces_.push_back({range.begin, range.end});
  }
}

void Selection::sort(TableRows& rows, std::span<const TableRows::Key> keys) {
  size_t count = 0;
  for (const Piece& piece : pieces_) count += piece.end - piece.begin;
  if (count == rows.size() && keys.size() == 1 && !keys[0].descending) {
    group_column_ = keys[0].column;
    groups_ = rows.with_groups(group_column_);
    list_ = groups_.rows;
  } else {
    auto sorted = std::make_shared<RowList>();
    sorted->reserve(count);
    for (skip_empty(); !at_end(); next()) sorted->push_back(row());
    rows.sort(*sorted, keys);
    list_ = std::move(sorted);
  }
  pieces_ = {{0, static_cast<uint32_t>(list_->size()), list_->data()}};
  piece_ = 0;
  at_ = 0;
}

void Selection::select(TableRows& rows, const Table& table, const RowPlan& plan,
                       std::span<const std::optional<Value>> values) {
  clear();
  // The constraint that narrows most.
  const auto usable = [&](const auto& accepts) -> std::optional<size_t> {
    for (size_t i = 0; i < plan.constraints.size(); ++i) {
      if (values[i] && accepts(plan.constraints[i])) return i;
    }
    return std::nullopt;
  };
  const auto numbered = usable([&](const auto& each) {
    return each.test == Test::equal && order_of(table, each.column) == Order::row;
  });
  const auto equal = usable(
      [&](const auto& each) { return each.test == Test::equal && rows.is_coded(each.column); });
  if (numbered && values[*numbered]->kind == Value::Kind::integer) {
    for (size_t part = 0; part < rows.parts(); ++part) {
      const auto range = rows.numbered(part, values[*numbered]->integer);
      pieces_.push_back({range.begin, range.end});
    }
  } else if (equal) {
    select_equal(rows, plan.constraints[*equal], *values[*equal]);
  } else {
    select_ranges(rows, table, plan, values);
  }
  if (!plan.keys.empty()) {
    sort(rows, plan.keys);
  } else if (plan.descending) {
    backwards_ = true;
    std::ranges::reverse(pieces_);
  }
  skip_empty();
}

}  // namespace llmprof::query
