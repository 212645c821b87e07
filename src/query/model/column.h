#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "query/model/value.h"

namespace llmprof::query {

enum class ColumnType : uint8_t { integer, real, text, boolean };
// As the schema names it. A boolean is 0 or 1.
std::string_view to_string(ColumnType type);

// What a column is, whatever the captures hold.
struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::text;
  std::string unit;     // "ns", "B"; empty: none
  std::string meaning;  // completes "This is ..."
  // What may help to find rows quickly. `row`: the value is the row's number within its part.
  // `ascending`: values never decrease within a part.
  enum class Order : uint8_t { none, row, ascending } order = Order::none;
};

// A column's values for the rows of one part of a table.
class ColumnValues {
 public:
  ColumnValues() = default;
  ColumnValues(const ColumnValues&) = delete;
  ColumnValues& operator=(const ColumnValues&) = delete;
  virtual ~ColumnValues() = default;

  // A text that no table owns is made in `scratch`.
  [[nodiscard]] virtual Value at(size_t row, std::string& scratch) const = 0;

  // Columns that repeat few values have a code for each: rows are grouped and found by it. Codes
  // are below codes(), which is 0 for columns without.
  [[nodiscard]] virtual uint32_t codes() const { return 0; }
  [[nodiscard]] virtual uint32_t code(size_t /*row*/) const { return 0; }
  [[nodiscard]] virtual Value decoded(uint32_t /*code*/) const { return {}; }
};
using Values = std::unique_ptr<const ColumnValues>;

// A column computed by `value_of(row)`.
template <class ValueOf>
Values computed(ValueOf value_of) {
  class Computed final : public ColumnValues {
   public:
    explicit Computed(ValueOf of) : of_(std::move(of)) {}
    [[nodiscard]] Value at(size_t row, std::string& /*scratch*/) const override { return of_(row); }

   private:
    ValueOf of_;
  };
  return std::make_unique<Computed>(std::move(value_of));
}

// The same for texts that are made for each row: `value_of(row, scratch)`.
template <class ValueOf>
Values composed(ValueOf value_of) {
  class Composed final : public ColumnValues {
   public:
    explicit Composed(ValueOf of) : of_(std::move(of)) {}
    [[nodiscard]] Value at(size_t row, std::string& scratch) const override {
      return of_(row, scratch);
    }

   private:
    ValueOf of_;
  };
  return std::make_unique<Composed>(std::move(value_of));
}

// A column of repeated values: `code_of(row)` is an index of `dictionary`, or beyond it for null.
template <class CodeOf>
Values coded(std::shared_ptr<const std::vector<Value>> dictionary, CodeOf code_of) {
  class Coded final : public ColumnValues {
   public:
    Coded(std::shared_ptr<const std::vector<Value>> dictionary, CodeOf of)
        : dictionary_(std::move(dictionary)), of_(std::move(of)) {}
    [[nodiscard]] Value at(size_t row, std::string& /*scratch*/) const override {
      return decoded(code(row));
    }
    [[nodiscard]] uint32_t codes() const override {
      return static_cast<uint32_t>(dictionary_->size() + 1);
    }
    [[nodiscard]] uint32_t code(size_t row) const override {
      const size_t code = of_(row);
      return static_cast<uint32_t>(code < dictionary_->size() ? code : dictionary_->size());
    }
    [[nodiscard]] Value decoded(uint32_t code) const override {
      return code < dictionary_->size() ? (*dictionary_)[code] : Value();
    }

   private:
    std::shared_ptr<const std::vector<Value>> dictionary_;
    CodeOf of_;
  };
  return std::make_unique<Coded>(std::move(dictionary), std::move(code_of));
}

// One value for all rows, owned by the column.
Values constant(std::string text);

}  // namespace llmprof::query
