#include "query/arrow_files/arrow_column.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/needed.h"

namespace llmprof::query {
namespace {

Values fixed(std::vector<Value> values) {
  return computed([values](size_t row) { return values[row]; });
}

// A table of one column in one part.
struct OneColumn {
  explicit OneColumn(Values values, size_t count) {
    table.name = "t";
    std::vector<TableRows::NamedPart> parts(1);
    parts[0] = {"run", {count, {}}};
    parts[0].part.columns.push_back(std::move(values));
    rows = std::make_unique<TableRows>(table, std::move(parts));
  }
  explicit OneColumn(const std::vector<Value>& values) : OneColumn(fixed(values), values.size()) {}

  [[nodiscard]] ArrowColumn column(ColumnType type) const { return {*rows, 1, type, "t.c"}; }

  Table table;
  std::unique_ptr<TableRows> rows;
};

template <class Item>
std::vector<Item> items(const std::string& bytes) {
  std::vector<Item> items(bytes.size() / sizeof(Item));
  std::memcpy(items.data(), bytes.data(), items.size() * sizeof(Item));
  return items;
}

TEST(ArrowColumn, HasABitPerNull) {
  const OneColumn of({Value::of(int64_t{5}), Value(), Value::of(INT64_MIN), Value(),
                      Value::of(int64_t{1}), Value::of(int64_t{2}), Value::of(int64_t{3}),
                      Value::of(int64_t{4}), Value()});
  const ArrowArray all = of.column(ColumnType::integer).rows(0, 0, 9);
  EXPECT_EQ(all.nulls, 3U);
  EXPECT_EQ(all.valid, std::string("\xF5\xFE", 2));
  EXPECT_EQ(items<int64_t>(all.values), (std::vector<int64_t>{5, 0, INT64_MIN, 0, 1, 2, 3, 4, 0}));
  const ArrowArray without = of.column(ColumnType::integer).rows(0, 4, 8);
  EXPECT_EQ(without.rows, 4U);
  EXPECT_EQ(without.nulls, 0U);
  EXPECT_EQ(without.valid, "");
}

TEST(ArrowColumn, ReadsWholeNumbersAsRealOnes) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const OneColumn of({Value::of(0.5), Value::of(int64_t{2}), Value::of(none)});
  const ArrowArray array = of.column(ColumnType::real).rows(0, 0, 3);
  EXPECT_EQ(array.nulls, 1U);
  EXPECT_EQ(items<double>(array.values), (std::vector<double>{0.5, 2, 0}));
}

TEST(ArrowColumn, HasABitPerBoolean) {
  const OneColumn of(
      {Value::of(int64_t{1}), Value::of(int64_t{0}), Value(), Value::of(int64_t{1})});
  const ArrowArray array = of.column(ColumnType::boolean).rows(0, 0, 4);
  EXPECT_EQ(array.values, "\x09");
  EXPECT_EQ(array.valid, "\xFB");
}

TEST(ArrowColumn, HasTheOffsetsOfTexts) {
  const OneColumn of({Value::of(std::string_view("ab")), Value(), Value::of(std::string_view()),
                      Value::of(std::string_view("c"))});
  const ArrowColumn column = of.column(ColumnType::text);
  EXPECT_FALSE(column.has_dictionary());
  const ArrowArray array = column.rows(0, 0, 4);
  EXPECT_EQ(array.nulls, 1U);
  EXPECT_EQ(items<int32_t>(array.offsets), (std::vector<int32_t>{0, 2, 2, 2, 3}));
  EXPECT_EQ(array.values, "abc");
  EXPECT_EQ(items<int32_t>(column.rows(0, 3, 4).offsets), (std::vector<int32_t>{0, 1}));
}

// What no row uses must not leave the machine: dictionaries of traces have every text.
TEST(ArrowColumn, HasADictionaryOfTheTextsThatOccur) {
  const auto words = std::make_shared<const std::vector<Value>>(std::vector<Value>{
      Value::of(std::string_view("unused")), Value::of(std::string_view("b")), Value(),
      Value::of(std::string_view("a")), Value::of(std::string_view("b"))});
  const std::vector<size_t> codes = {4, 3, 2, 1, 9};
  const OneColumn of(coded(words, [codes](size_t row) { return codes[row]; }), codes.size());
  const ArrowColumn column = of.column(ColumnType::text);
  ASSERT_TRUE(column.has_dictionary());
  EXPECT_EQ(column.dictionary().values, "ba");
  EXPECT_EQ(column.dictionary().rows, 2U);
  const ArrowArray array = column.rows(0, 0, 5);
  EXPECT_EQ(items<int32_t>(array.values), (std::vector<int32_t>{0, 1, 0, 0, 0}));
  EXPECT_EQ(array.nulls, 2U);
  EXPECT_EQ(array.valid, "\xEB");
}

TEST(ArrowColumn, RefusesValuesOfAnotherType) {
  const auto refuses = [](const Value& value, ColumnType type) {
    const OneColumn of({value});
    return !attempt([&] { return of.column(type).rows(0, 0, 1); });
  };
  const Value text = Value::of(std::string_view("x"));
  EXPECT_TRUE(refuses(text, ColumnType::integer));
  EXPECT_TRUE(refuses(text, ColumnType::boolean));
  EXPECT_TRUE(refuses(Value::of(1.5), ColumnType::integer));
  EXPECT_TRUE(refuses(Value::of(1.5), ColumnType::text));
  EXPECT_FALSE(refuses(text, ColumnType::text));
}

}  // namespace
}  // namespace llmprof::query
