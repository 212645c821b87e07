#include "mcp/json.h"

#include <gtest/gtest.h>

namespace llmprof::mcp {
namespace {

TEST(ParseJson, OnlyJsonInUtf8) {
  EXPECT_EQ(parse_json(R"({"a": [1, "\u00e9"]})"), Json({{"a", {1, "é"}}}));
  for (const std::string_view text : {"", "{", "{}x", "nul", "\"\xff\"", "[1,]", "\"\x01\""}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(ParseJson, DeepNestingIsRefusedBeforeItCostsMemory) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '{')));
  // Brackets in texts do not nest.
  EXPECT_TRUE(parse_json("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"));
}

TEST(ToLine, IsOneLineOfUtf8) {
  EXPECT_EQ(to_line({{"b", "x\ny\xff"}, {"a", 1}}), "{\"b\":\"x\\ny\xEF\xBF\xBD\",\"a\":1}");
  const std::string line = to_line({{"a\\b", "x\"\n\x01\x7f\xff"}, {"\xc3\xa9", 1.5}});
  EXPECT_EQ(bytes_as_json(line), to_line(Json(line)).size());
}

TEST(Member, OfWhatIsNoObjectIsNull) {
  EXPECT_TRUE(member(Json(), "a").is_null());
  EXPECT_TRUE(member(Json::array({1}), "a").is_null());
  EXPECT_EQ(member({{"a", 2}}, "a"), Json(2));
}

}  // namespace
}  // namespace llmprof::mcp
