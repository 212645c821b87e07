#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "query/model/table.h"

namespace llmprof::query {

// Numbers of rows over all parts of a table, in the order of parts.
using RowList = std::vector<uint32_t>;

// A table's rows from all runs. Column 0 is the run; the table's own columns follow. Not for
// several threads.
class TableRows {
 public:
  struct NamedPart {
    std::string run;
    Part part;
  };
  TableRows(const Table& table, std::vector<NamedPart> parts);

  [[nodiscard]] uint32_t size() const { return first_.back(); }
  [[nodiscard]] size_t parts() const { return parts_.size(); }

  // Where a row is.
  struct Place {
    size_t part = 0;
    size_t row = 0;  // within the part
  };
  [[nodiscard]] Place place_of(uint32_t row) const;
  [[nodiscard]] Value value(Place place, size_t column, std::string& scratch) const {
    return columns_[place.part][column]->at(place.row, scratch);
  }
  // A whole column of a part, for copies of it.
  [[nodiscard]] const ColumnValues& column(size_t part, size_t column) const {
    return *columns_[part][column];
  }
  [[nodiscard]] size_t rows_of(size_t part) const { return parts_[part].part.rows; }

  // Whether the column repeats few values, so that the functions below may be called.
  [[nodiscard]] bool is_coded(size_t column) const;
  // About which share of all rows has one value of a coded column.
  [[nodiscard]] double share_of_value(size_t column) const;
  // Whether the column's values never decrease within each part.
  [[nodiscard]] bool is_ascending(size_t column);
  // All rows by the column's values in SQL's order; equal ones stay in order.
  [[nodiscard]] std::shared_ptr<const RowList> grouped(size_t column);
  // The same with its groups: where each begins in the list, then the end, and its value.
  struct GroupedRows {
    std::shared_ptr<const RowList> rows;
    std::span<const uint32_t> begin;
    std::span<const Value> values;
  };
  [[nodiscard]] GroupedRows with_groups(size_t column);
  // Those with this value: a piece of grouped().
  [[nodiscard]] std::span<const uint32_t> rows_with(size_t column, const Value& value,
                                                    const RowList& grouped);
  // Sorts rows by several columns, the first one first.
  struct Key {
    size_t column = 0;
    bool descending = false;
  };
  void sort(RowList& rows, std::span<const Key> keys);

  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  [[nodiscard]] Range all_of(size_t part) const { return {first_[part], first_[part + 1]}; }
  // One end of a period of values.
  struct Bound {
    const Value* value = nullptr;  // null: none
    bool is_outside = false;       // whether the value itself lies outside
  };
  // The rows of a part from `least` to `most`, for a column whose values never decrease. Null is
  // not within any bound.
  [[nodiscard]] Range between(size_t part, size_t column, Bound least, Bound most) const;
  // The row whose number within the part is this.
  [[nodiscard]] Range numbered(size_t part, int64_t number) const;

 private:
  // The distinct values of a column over all parts.
  struct Groups {
    std::vector<Value> values;                 // in SQL's order
    std::vector<uint32_t> begin;               // of each group in the grouped rows, then the end
    std::vector<std::vector<uint32_t>> ranks;  // by part and code: index of the value
  };
  const Groups& groups(size_t column);

  std::vector<NamedPart> parts_;
  std::vector<std::vector<const ColumnValues*>> columns_;  // by part, the run first
  std::vector<Values> runs_;                               // column 0 of each part
  std::vector<uint32_t> first_;  // row of each part, then the number of rows
  std::map<size_t, Groups> groups_;
  std::map<size_t, bool> ascending_;
  // The lists used last: each takes 4 bytes per row.
  std::array<std::pair<size_t, std::shared_ptr<const RowList>>, 4> lists_;
  size_t next_list_ = 0;
};

}  // namespace llmprof::query
