#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "readers/nsys_sqlite/row_values.h"

namespace llmprof::readers {

// Where a table's rows are in its file, and which of their fields are wanted.
struct TableLayout {
  uint32_t root_page = 0;
  // By field of the record: its place in RowValues, -1 for those not wanted.
  std::vector<int> slots;
};

// Takes the wanted fields of a record (SQLite's file format, section 2.1); fields that it does not
// have are NULL. False where it contradicts itself.
bool take_fields(std::span<const uint8_t> record, const TableLayout& layout, RowValues& values);

// The number at the beginning of `bytes`, 1 to 9 of which it takes away; false at their end.
bool take_varint(std::span<const uint8_t>& bytes, uint64_t& value);

}  // namespace llmprof::readers
