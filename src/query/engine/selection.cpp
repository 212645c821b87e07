#include "query/engine/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::query {
namespace {

using Order = ColumnInfo::Order;

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

Selection Selection::make(TableRows& rows, const Table& table, const RowPlan& plan,
                          std::span<const std::optional<Value>> values) {
  using Test = RowPlan::Test;
  Selection selection;
  auto& pieces = selection.pieces_;
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
  bool all = false;
  if (numbered && values[*numbered]->kind == Value::Kind::integer) {
    for (size_t part = 0; part < rows.parts(); ++part) {
      const auto range = rows.numbered(part, values[*numbered]->integer);
      pieces.push_back({range.begin, range.end});
    }
  } else if (equal) {
    const size_t column = plan.constraints[*equal].column;
    selection.list_ = rows.grouped(column);
    const auto found = rows.rows_with(column, *values[*equal], *selection.list_);
    if (!found.empty()) pieces.push_back({0, static_cast<uint32_t>(found.size()), found.data()});
  } else {
    for (size_t part = 0; part < rows.parts(); ++part) {
      TableRows::Range range = rows.between(part, 0, nullptr, nullptr);
      for (size_t i = 0; i < plan.constraints.size(); ++i) {
        const auto& [test, column] = plan.constraints[i];
        if (!values[i] || !may_be_searched(rows, table, column)) continue;
        const Value* const value = &*values[i];
        const auto own = rows.between(part, column, test == Test::at_most ? nullptr : value,
                                      test == Test::at_least ? nullptr : value);
        range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
        range.end = std::max(range.begin, range.end);
      }
      pieces.push_back({range.begin, range.end});
    }
    size_t count = 0;
    for (const Piece& piece : pieces) count += piece.end - piece.begin;
    all = count == rows.size();
  }
  if (!plan.keys.empty()) {
    if (all && plan.keys.size() == 1 && !plan.keys[0].descending) {
      selection.group_column_ = plan.keys[0].column;
      selection.groups_ = rows.with_groups(selection.group_column_);
      selection.list_ = selection.groups_.rows;
    } else {
      auto sorted = std::make_shared<RowList>();
      sorted->reserve(rows.size());
      for (selection.skip_empty(); !selection.at_end(); selection.next()) {
        sorted->push_back(selection.row());
      }
      rows.sort(*sorted, plan.keys);
      selection.list_ = std::move(sorted);
    }
    pieces = {{0, static_cast<uint32_t>(selection.list_->size()), selection.list_->data()}};
    selection.piece_ = 0;
    selection.at_ = 0;
  } else if (plan.descending) {
    selection.backwards_ = true;
    std::ranges::reverse(pieces);
  }
  selection.skip_empty();
  return selection;
}

}  // namespace llmprof::query
