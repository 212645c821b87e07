#include "query/engine/table_rows.h"

#include <gtest/gtest.h>

#include "query/engine/selection.h"

namespace llmprof::query {
namespace {

Values numbers(std::vector<int64_t> values) {
  return computed([values](size_t row) { return Value::of(values[row]); });
}
Values words(std::vector<std::string> values) {
  auto owned = std::make_shared<std::vector<std::string>>(std::move(values));
  auto dictionary = std::make_shared<std::vector<Value>>();
  for (const std::string& text : *owned) dictionary->push_back(Value::unless_empty(text));
  return coded(std::shared_ptr<const std::vector<Value>>(std::move(dictionary)),
               [owned](size_t row) { return row; });
}

// start (ascending) and a name; the first part has three rows, the second two.
struct TwoParts {
  Table table;
  std::unique_ptr<TableRows> rows;

  TwoParts() {
    table.name = "t";
    table.columns = {{"start", ColumnType::integer, "ns", "", ColumnInfo::Order::ascending},
                     {"name", ColumnType::text, "", ""}};
    std::vector<TableRows::NamedPart> parts(2);
    parts[0] = {"a", {3, {}}};
    parts[0].part.columns.push_back(numbers({10, 20, 30}));
    parts[0].part.columns.push_back(words({"x", "", "b"}));
    parts[1] = {"b", {2, {}}};
    parts[1].part.columns.push_back(numbers({5, 25}));
    parts[1].part.columns.push_back(words({"b", "c"}));
    rows = std::make_unique<TableRows>(table, std::move(parts));
  }

  RowList select(const RowPlan& plan, std::vector<std::optional<Value>> values = {}) {
    RowList found;
    Selection selection;
    for (selection.select(*rows, table, plan, values); !selection.at_end(); selection.next()) {
      found.push_back(selection.row());
    }
    return found;
  }
};

using Compare = RowPlan::Test;
constexpr size_t kRun = 0;
constexpr size_t kStart = 1;
constexpr size_t kName = 2;

TEST(TableRows, GroupsComeInSqlsOrderOverAllParts) {
  TwoParts two;
  // null, b (of both parts), c, x
  EXPECT_EQ(*two.rows->grouped(kName), (RowList{1, 2, 3, 4, 0}));
  EXPECT_EQ(two.select({.keys = {{kName, false}}}), (RowList{1, 2, 3, 4, 0}));
  EXPECT_EQ(two.select({.keys = {{kName, true}}}), (RowList{0, 4, 2, 3, 1}));
  EXPECT_EQ(two.select({.keys = {{kRun, true}, {kName, false}}}), (RowList{3, 4, 1, 2, 0}));
}

TEST(TableRows, AreFoundByValue) {
  TwoParts two;
  EXPECT_EQ(two.select({{{Compare::equal, kName}}}, {Value::of("b")}), (RowList{2, 3}));
  EXPECT_EQ(two.select({{{Compare::equal, kName}}}, {Value::of("y")}), RowList());
  EXPECT_EQ(two.select({{{Compare::equal, kRun}}}, {Value::of("b")}), (RowList{3, 4}));
}

TEST(TableRows, AreFoundByTimeInEachPart) {
  TwoParts two;
  const RowPlan from{{{Compare::at_least, kStart}}};
  EXPECT_EQ(two.select(from, {Value::of(int64_t{20})}), (RowList{1, 2, 4}));
  const RowPlan within{{{Compare::at_least, kStart}, {Compare::at_most, kStart}}};
  EXPECT_EQ(two.select(within, {Value::of(10.5), Value::of(int64_t{25})}), (RowList{1, 4}));
  EXPECT_EQ(two.select(within, {Value::of(int64_t{40}), Value::of(int64_t{0})}), RowList());
  const RowPlan inside{{{Compare::above, kStart}, {Compare::below, kStart}}};
  EXPECT_EQ(two.select(inside, {Value::of(int64_t{10}), Value::of(int64_t{25})}), (RowList{1}));
  EXPECT_EQ(two.select(inside, {Value::of(9.5), Value::of(25.5)}), (RowList{0, 1, 4}));
  // A value of another type narrows nothing: SQLite compares.
  EXPECT_EQ(two.select(from, {std::nullopt}), (RowList{0, 1, 2, 3, 4}));
}

TEST(TableRows, NullIsBelowNothing) {
  Table table;
  table.columns = {{"start", ColumnType::integer, "ns", "", ColumnInfo::Order::ascending}};
  std::vector<TableRows::NamedPart> parts(1);
  parts[0] = {"a", {3, {}}};
  parts[0].part.columns.push_back(computed(
      [](size_t row) { return row == 0 ? Value() : Value::of(static_cast<int64_t>(row)); }));
  TableRows rows(table, std::move(parts));
  const std::vector<std::optional<Value>> two = {Value::of(int64_t{2})};
  Selection selection;
  selection.select(rows, table, {{{Compare::below, kStart}}}, two);
  ASSERT_FALSE(selection.at_end());
  EXPECT_EQ(selection.row(), 1U);
  selection.next();
  EXPECT_TRUE(selection.at_end());
}

TEST(TableRows, ASelectionCanBeUsedAgain) {
  TwoParts two;
  Selection selection;
  selection.select(*two.rows, two.table, {.keys = {{kName, false}}}, {});
  selection.next();
  const std::vector<std::optional<Value>> b = {Value::of("b")};
  selection.select(*two.rows, two.table, {{{Compare::equal, kName}}}, b);
  EXPECT_EQ(selection.row(), 2U);
  EXPECT_EQ(selection.grouped_value(kName), nullptr);
  selection.select_nothing();
  EXPECT_TRUE(selection.at_end());
}

TEST(TableRows, AValueOfManyIsRare) {
  TwoParts two;
  EXPECT_DOUBLE_EQ(two.rows->share_of_value(kName), 1.0 / 4);
  EXPECT_DOUBLE_EQ(two.rows->share_of_value(kRun), 1.0 / 2);
}

TEST(TableRows, BackwardsIsTheSameFromTheEnd) {
  TwoParts two;
  RowPlan plan{{{Compare::at_least, kStart}}};
  plan.descending = true;
  EXPECT_EQ(two.select(plan, {Value::of(int64_t{20})}), (RowList{4, 2, 1}));
}

TEST(TableRows, AscendingColumnsAreChecked) {
  TwoParts two;
  EXPECT_TRUE(two.rows->is_ascending(kStart));
  EXPECT_FALSE(two.rows->is_ascending(kName));
}

TEST(RowPlan, SurvivesItsText) {
  RowPlan plan{{{Compare::equal, 12}, {Compare::below, 3}}, {{7, true}, {10, false}}, true};
  const RowPlan read = plan_of(to_text(plan));
  EXPECT_EQ(to_text(read), "=12<3|-7+10|d");
  ASSERT_EQ(read.constraints.size(), 2U);
  EXPECT_EQ(read.constraints[1].column, 3U);
  EXPECT_TRUE(read.keys[0].descending);
}

TEST(Value, NumbersPrecedeTextsAndAreComparedExactly) {
  const int64_t large = (int64_t{1} << 53) + 1;  // no double
  EXPECT_TRUE(precedes(Value(), Value::of(int64_t{-1})));
  EXPECT_TRUE(precedes(Value::of(1e300), Value::of("")));
  EXPECT_TRUE(precedes(Value::of(static_cast<double>(large - 1)), Value::of(large)));
  EXPECT_TRUE(same(Value::of(int64_t{3}), Value::of(3.0)));
  EXPECT_TRUE(precedes(Value::of(int64_t{3}), Value::of(3.5)));
  EXPECT_TRUE(precedes(Value::of(-3.5), Value::of(int64_t{-3})));
}

}  // namespace
}  // namespace llmprof::query
