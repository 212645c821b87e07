#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/ncu/columns.h"
#include "readers/ncu/number.h"

namespace llmprof::readers {

// One row of an ncu table: its fields (views into the input) and its metrics: on the raw page a
// number per metric column, on the details page `value`. NaN is "no value".
struct NcuRecord {
  std::array<std::string_view, NcuField::kCount> fields;
  double value = 0;

  [[nodiscard]] std::string_view operator[](NcuField field) const { return fields[field.index]; }
};

// Rows under one header.
struct NcuTable {
  NcuColumnsPtr columns;
  bool continued = false;  // from the previous window
  std::vector<NcuRecord> records;
  std::vector<double> values;  // raw page: records x metric columns
};

// How to read a file's numbers, and how many can be read only with the other convention.
struct NcuNumbers {
  DecimalConvention convention;
  uint64_t other_convention = 0;
};

// Adds a row of these cells (8 bytes after each are readable) to the table. False, with the table
// unchanged, if it is not a complete record.
bool add_ncu_record(std::span<const std::string_view> cells, NcuNumbers& numbers, NcuTable& table);

// The kind of the line at the start of a text. Every ncu record starts with its quoted number.
enum class NcuLine : uint8_t { record, header, units, other };
NcuLine ncu_line_kind(std::string_view text);

// The closing quote of the quoted cell that starts at `at`; nullptr: none.
struct NcuQuotedCell {
  const char* end = nullptr;
  bool doubled = false;  // contains doubled quotes
};
// Eight bytes after `end` must be readable.
[[gnu::always_inline]] inline NcuQuotedCell ncu_quoted_cell(const char* at, const char* end) {
  NcuQuotedCell cell;
  // Cells are short: a word at a time beats memchr.
  for (++at; at < end;) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= kEveryByte * '"';
    const uint64_t found = (word - kEveryByte) & ~word & (kEveryByte * 0x80);
    if (found == 0) {
      at += sizeof word;
      continue;
    }
    at += std::countr_zero(found) / 8;
    if (at >= end) break;
    if (at + 1 == end || at[1] != '"') {
      cell.end = at;
      break;
    }
    cell.doubled = true;
    at += 2;
  }
  return cell;
}

// A cell's content with doubled quotes made single, kept in `undone`, with 8 readable bytes after
// it.
std::string_view undo_doubled_quotes(std::string_view cell, std::deque<std::string>& undone);

double ncu_unusual_value(std::string_view cell, double scale, NcuNumbers& numbers);
// A metric's value in its base unit; NaN: none. Eight bytes after the cell must be readable.
[[gnu::always_inline]] inline double ncu_value(std::string_view cell, double scale,
                                               NcuNumbers& numbers) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  const bool english = numbers.convention == DecimalConvention::point;
  const char point = english ? '.' : ',';
  const PlainNumber plain = parse_plain_number(cell, point);
  if (plain.valid) return plain.value() * scale;
  const PlainNumber grouped = parse_grouped_number(cell, english ? ',' : '.', point);
  if (grouped.valid) return grouped.value() * scale;
  return ncu_unusual_value(cell, scale, numbers);
}

// Splits records into cells. Eight bytes after the text must be readable.
class NcuSplitter {
 public:
  // Splits the record at the start of `text` and returns its length including the line end, or 0 if
  // quotes and commas do not form a record.
  size_t split(std::string_view text);
  // The cells of the record split last: views into the text or, if quotes were doubled, into copies
  // kept here until `forget`.
  [[nodiscard]] std::span<const std::string_view> cells() const { return cells_; }
  [[nodiscard]] std::deque<std::string>& undone() { return undone_; }
  void forget() { undone_.clear(); }

 private:
  std::vector<std::string_view> cells_;
  std::deque<std::string> undone_;
};

}  // namespace llmprof::readers
