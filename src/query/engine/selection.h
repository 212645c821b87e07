#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/engine/table_rows.h"

namespace llmprof::query {

// How SQLite's planner asks for rows of a table: constraints that narrow them, and their order.
struct RowPlan {
  enum class Test : char { equal = '=', at_least = 'g', above = '>', at_most = 'l', below = '<' };
  struct Constraint {
    Test test = Test::equal;
    size_t column = 0;
  };
  std::vector<Constraint> constraints = {};  // in the order of their values
  std::vector<TableRows::Key> keys = {};     // coded columns
  bool descending = false;                   // rows backwards, without keys
};
std::string to_text(const RowPlan& plan);
RowPlan plan_of(std::string_view text);

// The rows that a plan selects, in their order.
class Selection {
 public:
  Selection() = default;
  // Selects anew. `table` describes the columns; column 0 of the plan is the run. `values` are
  // those of the constraints; none where a value fits no type of its column. With an equality,
  // other constraints may be left to SQLite; without, the rows are exactly those that fit.
  void select(TableRows& rows, const Table& table, const RowPlan& plan,
              std::span<const std::optional<Value>> values);
  void select_nothing() { clear(); }

  [[nodiscard]] bool at_end() const { return piece_ == pieces_.size(); }
  [[nodiscard]] uint32_t row() const {
    const Piece& piece = pieces_[piece_];
    const uint32_t at = backwards_ ? piece.end - 1 - at_ : piece.begin + at_;
    return piece.list == nullptr ? at : piece.list[at];
  }
  void next() {
    ++at_;
    if (group_ < groups_.values.size() && at_ == groups_.begin[group_ + 1]) ++group_;
    skip_empty();
  }
  // The current row's value in a column, if rows come grouped by it: reading it from the row would
  // miss the caches.
  [[nodiscard]] const Value* grouped_value(size_t column) const {
    return column == group_column_ ? &groups_.values[group_] : nullptr;
  }

 private:
  // Rows from `begin` to `end`, or what stands there in a list.
  struct Piece {
    uint32_t begin = 0;
    uint32_t end = 0;
    const uint32_t* list = nullptr;
  };
  void clear();
  void select_equal(TableRows& rows, const RowPlan::Constraint& constraint, const Value& value);
  void select_ranges(TableRows& rows, const Table& table, const RowPlan& plan,
                     std::span<const std::optional<Value>> values);
  void sort(TableRows& rows, std::span<const TableRows::Key> keys);
  void skip_empty() {
    while (piece_ < pieces_.size() && at_ == pieces_[piece_].end - pieces_[piece_].begin) {
      ++piece_;
      at_ = 0;
    }
  }

  std::vector<Piece> pieces_;
  std::shared_ptr<const RowList> list_;
  TableRows::GroupedRows groups_;  // of group_column_
  size_t group_column_ = SIZE_MAX;
  size_t group_ = 0;
  size_t piece_ = 0;
  uint32_t at_ = 0;
  bool backwards_ = false;
};

}  // namespace llmprof::query
