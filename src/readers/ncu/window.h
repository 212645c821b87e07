#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "readers/ncu/columns.h"
#include "readers/ncu/failures.h"
#include "readers/ncu/raw_rows.h"
#include "readers/ncu/record.h"

namespace llmprof::readers {

// The content of one window of an ncu CSV file. Windows are parsed before it is known which header
// applies to their first rows: a window assumes the one known when it starts (`assume`), and is
// parsed again if that was wrong, which happens only next to a header.
class NcuWindow {
 public:
  explicit NcuWindow(DecimalConvention convention) : numbers_{convention} {}

  void assume(NcuColumnsPtr columns) { assumed_ = std::move(columns); }
  [[nodiscard]] const NcuColumnsPtr& assumed() const { return assumed_; }

  // The views in the tables point into the window.
  void parse(std::span<char> window);
  void parse_again() { parse(window_); }

  [[nodiscard]] std::span<const NcuTable> tables() const {
    return std::span(tables_).first(table_count_);
  }
  // The header that applies to what follows.
  [[nodiscard]] const NcuColumnsPtr& columns() const { return columns_; }
  [[nodiscard]] const NcuMessages& messages() const { return messages_; }
  [[nodiscard]] uint64_t bad_rows() const { return bad_rows_; }
  [[nodiscard]] uint64_t other_convention() const { return numbers_.other_convention; }

 private:
  void begin_table(NcuColumnsPtr columns, bool continued);
  void flush_raw_rows();
  size_t take_record(std::string_view text);
  size_t take_header(std::string_view text);
  size_t take_units(std::string_view text);
  size_t take_line(std::string_view text);

  NcuNumbers numbers_;
  NcuColumnsPtr assumed_;
  NcuColumnsPtr columns_;
  std::span<char> window_;
  std::vector<NcuTable>
      tables_;  // those after table_count_ keep their capacity for the next window
  size_t table_count_ = 0;
  NcuSplitter splitter_;
  std::vector<std::string_view> raw_rows_;  // from a row's start to the end of its line
  NcuRawRows raw_reader_;
  NcuMessages messages_;
  uint64_t bad_rows_ = 0;
};

// Where a window may end: before the last line that starts a record. Text without records is cut at
// a line end once it is long.
size_t cut_ncu_window(std::string_view buffer, size_t fresh);

}  // namespace llmprof::readers
