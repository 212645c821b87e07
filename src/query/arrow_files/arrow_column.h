#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/arrow_files/arrow_file.h"
#include "query/engine/table_rows.h"

namespace llmprof::query {

// Turns one column of a table into Arrow's arrays. Texts of columns that repeat few values become a
// dictionary of the ones that occur.
class ArrowColumn {
 public:
  // Refers to the rows. The name is for messages: "kernels.name".
  ArrowColumn(const TableRows& rows, size_t column, ColumnType type, std::string name);

  [[nodiscard]] bool has_dictionary() const { return has_dictionary_; }
  [[nodiscard]] ArrowArray dictionary() const;
  // Rows of a part, from `first` to before `end`.
  [[nodiscard]] ArrowArray rows(size_t part, size_t first, size_t end) const;

 private:
  void collect_texts();
  [[noreturn]] void refuse(std::string_view what) const;
  template <class Number>
  ArrowArray numbers(const ColumnValues& values, size_t first, size_t end) const;
  ArrowArray booleans(const ColumnValues& values, size_t first, size_t end) const;
  ArrowArray texts(const ColumnValues& values, size_t first, size_t end) const;
  ArrowArray indices(size_t part, size_t first, size_t end) const;

  const TableRows& rows_;
  size_t column_;
  ColumnType type_;
  std::string name_;
  bool has_dictionary_;
  std::vector<std::string_view> texts_;              // of the dictionary
  std::vector<std::vector<int32_t>> index_of_code_;  // by part
};

}  // namespace llmprof::query
