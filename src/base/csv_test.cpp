#include "base/csv.h"

#include <gtest/gtest.h>

#include <random>

namespace llmprof {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> all;
  std::vector<std::string_view> fields;
  CsvRows rows(text);
  while (rows.next(fields)) all.emplace_back(fields.begin(), fields.end());
  return all;
}

TEST(Csv, PlainRows) {
  EXPECT_EQ(rows_of(""), (std::vector<Row>{}));
  EXPECT_EQ(rows_of("a,b\nc,d\n"), (std::vector<Row>{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a,b\nc,d"), (std::vector<Row>{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a"), (std::vector<Row>{{"a"}}));
}

TEST(Csv, EmptyFieldsAndBlankLines) {
  EXPECT_EQ(rows_of(",\n"), (std::vector<Row>{{"", ""}}));
  EXPECT_EQ(rows_of("a,"), (std::vector<Row>{{"a", ""}}));
  EXPECT_EQ(rows_of("\n"), (std::vector<Row>{{""}}));
  EXPECT_EQ(rows_of("a\n\nb\n"), (std::vector<Row>{{"a"}, {""}, {"b"}}));
  EXPECT_EQ(rows_of("\"\",\"\"\n"), (std::vector<Row>{{"", ""}}));
}

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  EXPECT_EQ(rows_of("\"a,b\",c\n"), (std::vector<Row>{{"a,b", "c"}}));
  EXPECT_EQ(rows_of("\"a \"\"b\"\"\",\"\"\"\"\n"), (std::vector<Row>{{"a \"b\"", "\""}}));
  EXPECT_EQ(rows_of("x,\"a\nb\r\nc\",y\nz"), (std::vector<Row>{{"x", "a\nb\r\nc", "y"}, {"z"}}));
}

TEST(Csv, CarriageReturnsBelongToTheLineEnd) {
  EXPECT_EQ(rows_of("a,b\r\n\"c\",\"d\"\r\n\r\ne\r"),
            (std::vector<Row>{{"a", "b"}, {"c", "d"}, {""}, {"e"}}));
  EXPECT_EQ(rows_of("a\r,b\r\n"), (std::vector<Row>{{"a\r", "b"}}));
}

TEST(Csv, FlawedQuotesLoseNoRow) {
  EXPECT_EQ(rows_of("a,\"open\nb"), (std::vector<Row>{{"a", "open\nb"}}));
  EXPECT_EQ(rows_of("\""), (std::vector<Row>{{""}}));
  EXPECT_EQ(rows_of("\"\"\""), (std::vector<Row>{{"\""}}));
  EXPECT_EQ(rows_of("\"a\"junk,b\n"), (std::vector<Row>{{"a", "b"}}));
  EXPECT_EQ(rows_of("a\"b,c\n"), (std::vector<Row>{{"a\"b", "c"}}));
}

TEST(Csv, RestIsWhatWasNotRead) {
  std::vector<std::string_view> fields;
  CsvRows rows("a,\"b\nc\"\nd\n");
  ASSERT_TRUE(rows.next(fields));
  EXPECT_EQ(rows.rest(), "d\n");
  ASSERT_TRUE(rows.next(fields));
  EXPECT_EQ(rows.rest(), "");
  EXPECT_FALSE(rows.next(fields));
  EXPECT_TRUE(fields.empty());
}

TEST(Csv, ViewsPointIntoTheTextUnlessAQuoteWasDoubled) {
  const std::string text = "plain,\"quoted\",\"dou\"\"bled\"\nnext\n";
  std::vector<std::string_view> fields;
  CsvRows rows(text);
  ASSERT_TRUE(rows.next(fields));
  const auto inside = [&](std::string_view view) {
    return view.data() >= text.data() && view.data() < text.data() + text.size();
  };
  EXPECT_TRUE(inside(fields[0]));
  EXPECT_TRUE(inside(fields[1]));
  EXPECT_FALSE(inside(fields[2]));
}

// Quotes a field only if necessary.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

TEST(Csv, WrittenFieldsAreReadBack) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  std::mt19937 random(7);  // NOLINT: the same texts each time
  for (int round = 0; round < 2000; ++round) {
    constexpr std::string_view kLetters = "ab\",\n\r \xC3\xA9";
    Row row(1 + random() % 5);
    std::string line;
    for (std::string& field : row) {
      for (size_t length = random() % 6; length > 0; --length) {
        field += kLetters[random() % kLetters.size()];
      }
      line += (line.empty() ? "" : ",") + csv_field(field);
      if (&field == &row.front() && line.empty() && row.size() > 1) line = "\"\"";
    }
    EXPECT_EQ(rows_of(line + "\n"), (std::vector<Row>{row})) << line;
  }
}

}  // namespace
}  // namespace llmprof
