#include "query/arrow_files/arrow_column.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "base/needed.h"

namespace llmprof::query {
namespace {

constexpr int32_t kNullIndex = -1;
constexpr int32_t kUnusedCode = -2;
constexpr size_t kMostTextBytes = INT32_MAX;

// A bit per row, the lowest first.
void set_bit(std::string& bits, size_t row) {
  bits[row / 8] = static_cast<char>(static_cast<uint8_t>(bits[row / 8]) | 1U << row % 8);
}
void clear_bit(std::string& bits, size_t row) {
  bits[row / 8] = static_cast<char>(static_cast<uint8_t>(bits[row / 8]) & ~(1U << row % 8));
}

void add_null(ArrowArray& array, size_t row) {
  if (array.valid.empty()) array.valid.assign((array.rows + 7) / 8, '\xFF');
  clear_bit(array.valid, row);
  ++array.nulls;
}

bool is_null(const Value& value) {
  return value.kind == Value::Kind::null ||
         (value.kind == Value::Kind::real && std::isnan(value.real));  // as in SQLite
}

template <class Item>
void put_item(std::string& bytes, size_t index, Item item) {
  std::memcpy(bytes.data() + index * sizeof item, &item, sizeof item);
}

ArrowArray array_of(size_t rows) {
  ArrowArray array;
  array.rows = rows;
  return array;
}

}  // namespace

ArrowColumn::ArrowColumn(const TableRows& rows, size_t column, ColumnType type, std::string name)
    : rows_(rows),
      column_(column),
      type_(type),
      name_(std::move(name)),
      has_dictionary_(type == ColumnType::text && rows.is_coded(column)) {
  if (has_dictionary_) collect_texts();
}

void ArrowColumn::refuse(std::string_view what) const {
  give_up(ErrorKind::internal, fmt::format("{}: {}", name_, what));
}

void ArrowColumn::collect_texts() {
  std::unordered_map<std::string_view, int32_t> known;
  for (size_t part = 0; part < rows_.parts(); ++part) {
    const ColumnValues& values = rows_.column(part, column_);
    auto& index_of_code = index_of_code_.emplace_back(values.codes(), kUnusedCode);
    for (size_t row = 0; row < rows_.rows_of(part); ++row) {
      int32_t& index = index_of_code[values.code(row)];
      if (index != kUnusedCode) continue;
      const Value value = values.decoded(values.code(row));
      index = kNullIndex;
      if (is_null(value)) continue;
      if (value.kind != Value::Kind::text) refuse("has a value that is not a text");
      const auto [found, is_new] =
          known.try_emplace(value.text, static_cast<int32_t>(texts_.size()));
      if (is_new) texts_.push_back(value.text);
      index = found->second;
    }
  }
}

ArrowArray ArrowColumn::dictionary() const {
  ArrowArray array = array_of(texts_.size());
  array.offsets.resize((texts_.size() + 1) * sizeof(int32_t));
  for (size_t i = 0; i < texts_.size(); ++i) {
    array.values += texts_[i];
    if (array.values.size() > kMostTextBytes) refuse("has too many texts for one dictionary");
    put_item(array.offsets, i + 1, static_cast<int32_t>(array.values.size()));
  }
  return array;
}

ArrowArray ArrowColumn::rows(size_t part, size_t first, size_t end) const {
  if (has_dictionary_) return indices(part, first, end);
  const ColumnValues& values = rows_.column(part, column_);
  switch (type_) {
    case ColumnType::integer:
      return numbers<int64_t>(values, first, end);
    case ColumnType::real:
      return numbers<double>(values, first, end);
    case ColumnType::boolean:
      return booleans(values, first, end);
    case ColumnType::text:
      break;
  }
  return texts(values, first, end);
}

template <class Number>
ArrowArray ArrowColumn::numbers(const ColumnValues& values, size_t first, size_t end) const {
  ArrowArray array = array_of(end - first);
  array.values.resize(array.rows * sizeof(Number));
  std::string scratch;
  for (size_t row = 0; row < array.rows; ++row) {
    const Value value = values.at(first + row, scratch);
    if (value.kind == Value::Kind::integer) {
      put_item(array.values, row, static_cast<Number>(value.integer));
    } else if (is_null(value)) {
      add_null(array, row);
    } else if (value.kind == Value::Kind::real && std::is_floating_point_v<Number>) {
      put_item(array.values, row, static_cast<Number>(value.real));
    } else {
      refuse("has a value of another type");
    }
  }
  return array;
}

ArrowArray ArrowColumn::booleans(const ColumnValues& values, size_t first, size_t end) const {
  ArrowArray array = array_of(end - first);
  array.values.assign((array.rows + 7) / 8, '\0');
  std::string scratch;
  for (size_t row = 0; row < array.rows; ++row) {
    const Value value = values.at(first + row, scratch);
    if (is_null(value)) {
      add_null(array, row);
    } else if (value.kind != Value::Kind::integer) {
      refuse("has a value that is neither true nor false");
    } else if (value.integer != 0) {
      set_bit(array.values, row);
    }
  }
  return array;
}

ArrowArray ArrowColumn::texts(const ColumnValues& values, size_t first, size_t end) const {
  ArrowArray array = array_of(end - first);
  array.offsets.resize((array.rows + 1) * sizeof(int32_t));
  std::string scratch;
  for (size_t row = 0; row < array.rows; ++row) {
    const Value value = values.at(first + row, scratch);
    if (is_null(value)) {
      add_null(array, row);
    } else if (value.kind != Value::Kind::text) {
      refuse("has a value that is not a text");
    } else {
      array.values += value.text;
    }
    if (array.values.size() > kMostTextBytes) refuse("has too long texts for one batch");
    put_item(array.offsets, row + 1, static_cast<int32_t>(array.values.size()));
  }
  return array;
}

ArrowArray ArrowColumn::indices(size_t part, size_t first, size_t end) const {
  const ColumnValues& values = rows_.column(part, column_);
  const std::vector<int32_t>& index_of_code = index_of_code_[part];
  ArrowArray array = array_of(end - first);
  array.values.resize(array.rows * sizeof(int32_t));
  for (size_t row = 0; row < array.rows; ++row) {
    const int32_t index = index_of_code[values.code(first + row)];
    if (index == kNullIndex) {
      add_null(array, row);
    } else {
      put_item(array.values, row, index);
    }
  }
  return array;
}

}  // namespace llmprof::query
