#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace llmprof::readers {

// The wanted values of one row, as stored in the file. Texts and bytes are valid until the next
// row.
class RowValues {
 public:
  explicit RowValues(size_t columns) : values_(columns) {}

  // Converts like SQLite: a text gives its leading digits, 0 if it has none; NULL gives 0.
  [[nodiscard]] int64_t integer(size_t column) const {
    const Value& value = values_[column];
    if (value.kind == Kind::number) return value.number;
    return value.kind == Kind::none ? 0 : leading_integer(value.bytes);
  }
  [[nodiscard]] bool is_null(size_t column) const { return values_[column].kind == Kind::none; }
  // A number, or a text that is one; none otherwise.
  [[nodiscard]] std::optional<int64_t> number(size_t column) const {
    const Value& value = values_[column];
    if (value.kind == Kind::number) return value.number;
    return value.kind == Kind::text ? parse_int(value.bytes) : std::nullopt;
  }
  // Empty for numbers.
  [[nodiscard]] std::string_view text(size_t column) const {
    return values_[column].kind < Kind::text ? std::string_view() : values_[column].bytes;
  }

  void set_null(size_t column) { values_[column].kind = Kind::none; }
  void set_integer(size_t column, int64_t value) {
    values_[column].kind = Kind::number;
    values_[column].number = value;
  }
  void set_real(size_t column, double value);
  void set_text(size_t column, std::string_view text) { set(column, Kind::text, text); }
  void set_bytes(size_t column, std::string_view bytes) { set(column, Kind::bytes, bytes); }

 private:
  enum class Kind : uint8_t { none, number, text, bytes };
  // Only the member that `kind` names is valid; the other may be from an earlier row.
  struct Value {
    Kind kind = Kind::none;
    int64_t number = 0;
    std::string_view bytes;
  };
  void set(size_t column, Kind kind, std::string_view bytes) {
    values_[column].kind = kind;
    values_[column].bytes = bytes;
  }
  [[nodiscard]] static int64_t leading_integer(std::string_view text);

  std::vector<Value> values_;
};

// Where a table's rows are in its file, and which fields are wanted.
struct TableLayout {
  uint32_t root_page = 0;
  // By field of the record: its index in RowValues, -1 if not wanted.
  std::vector<int> slots;
};

// Reads the wanted fields of a record (SQLite's file format, section 2.1); missing fields are NULL.
// False if the record contradicts itself.
bool take_fields(std::span<const uint8_t> record, const TableLayout& layout, RowValues& values);

// Reads the number at the start of `bytes` and removes its 1 to 9 bytes; false if they end too
// early.
bool take_varint(std::span<const uint8_t>& bytes, uint64_t& value);

}  // namespace llmprof::readers
