#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/files.h"
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

// The rows of a table directly from the pages of its file, in order of their ids. Through SQLite
// queries, reading a million kernels took 2.5 times as long. Anything that is not a plain table is
// reported, for SQLite to read or to refuse. Nothing is mapped: a file that shrinks meanwhile is
// damage, not a signal. Not thread-safe.
class TableWalk {
 public:
  // None if the file is not SQLite, or holds texts as UTF-16.
  static std::optional<TableWalk> open(const std::filesystem::path& path);

  enum class Step : uint8_t {
    row,
    long_row,  // continues in other pages; its id is known
    end,
    damage
  };

  // Afterwards, `next` gives rows with ids from `first` to `last`.
  void start(uint32_t root_page, int64_t first, int64_t last);
  Step next();
  // Of the row from the last `next`. The record is valid until the next call.
  [[nodiscard]] int64_t row_id() const { return row_id_; }
  [[nodiscard]] std::span<const uint8_t> record() const { return record_; }

 private:
  // One page on the way down, with the children still to be visited.
  struct Level {
    std::vector<uint8_t> page;
    size_t cells = 0;
    size_t next_child = 0;
  };
  static constexpr size_t kDeepest = 20;  // SQLite's own limit

  TableWalk(FileDescriptor file, uint64_t file_bytes, size_t page_bytes, size_t usable_bytes);

  std::span<const uint8_t> page(uint32_t number);
  bool descend(uint32_t number);
  bool next_leaf(bool& more);
  [[nodiscard]] uint32_t child(const Level& level, size_t index) const;
  [[nodiscard]] bool child_ends_before(const Level& level, size_t index, int64_t id) const;

  FileDescriptor file_;
  uint64_t file_bytes_;
  size_t page_bytes_;
  size_t usable_bytes_;  // of a page; SQLite does not use the rest
  std::vector<uint8_t> window_;
  uint64_t window_at_ = 0;
  size_t window_filled_ = 0;

  std::vector<Level> levels_;
  size_t depth_ = 0;
  std::span<const uint8_t> leaf_;
  size_t leaf_cells_ = 0;
  size_t next_cell_ = 0;
  size_t leaves_ = 0;        // visited so far
  uint64_t pages_left_ = 0;  // that this walk may still visit, so that a cycle of pages ends
  uint32_t root_page_ = 0;
  bool started_ = false;
  int64_t first_ = 0;
  int64_t last_ = -1;
  int64_t row_id_ = 0;
  bool any_row_ = false;
  std::span<const uint8_t> record_;
};

}  // namespace llmprof::readers
