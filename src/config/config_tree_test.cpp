#include "config/config_tree.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace llmprof::config {
namespace {

TEST(ConfigTree, YamlKeepsOrderTextAndLines) {
  const auto document = parse_yaml("b: 1\na:\n  - x\n  - 2.5\nc: {d: true, e: ~}\n", "f.yaml");
  ASSERT_TRUE(document) << document.error().message;
  const ConfigNode& root = document->root;
  ASSERT_TRUE(root.is_map());
  EXPECT_EQ(root.keys, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(root.find("b")->integer(), 1);
  const ConfigNode* list = root.find("a");
  ASSERT_TRUE(list != nullptr && list->is_list());
  EXPECT_EQ(list->line, 2U);  // of its key
  EXPECT_EQ(list->children[0].text, "x");
  EXPECT_EQ(list->children[0].line, 3U);
  EXPECT_EQ(list->children[1].number(), 2.5);
  EXPECT_EQ(root.find("c")->find("d")->boolean(), true);
  EXPECT_TRUE(root.find("c")->find("e")->is_null());
  EXPECT_EQ(root.find("none"), nullptr);
  EXPECT_EQ(list->find("x"), nullptr);
}

TEST(ConfigTree, JsonGivesTheSameTree) {
  const auto document =
      parse_json(R"({"b": 1, "a": ["x", 2.5], "c": {"d": true, "e": null}})", "f.json");
  ASSERT_TRUE(document) << document.error().message;
  const ConfigNode& root = document->root;
  EXPECT_EQ(root.keys, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(root.find("b")->integer(), 1);
  EXPECT_EQ(root.find("b")->line, 0U);
  EXPECT_EQ(root.find("a")->children[0].text, "x");
  EXPECT_EQ(root.find("a")->children[1].number(), 2.5);
  EXPECT_EQ(root.find("c")->find("d")->boolean(), true);
  EXPECT_TRUE(root.find("c")->find("e")->is_null());
}

TEST(ConfigTree, NumbersAreWholeTextsOrNothing) {
  const auto document = parse_yaml("[12, 12x, '', 1.5, 99999999999999999999, -3, yes]", "f");
  ASSERT_TRUE(document);
  const auto& items = document->root.children;
  EXPECT_EQ(items[0].integer(), 12);
  EXPECT_FALSE(items[1].integer());
  EXPECT_FALSE(items[1].number());
  EXPECT_FALSE(items[2].number());
  EXPECT_FALSE(items[3].integer());
  EXPECT_FALSE(items[4].integer());  // more than 64 bits
  EXPECT_EQ(items[4].number(), 1e20);
  EXPECT_EQ(items[5].integer(), -3);
  EXPECT_FALSE(items[6].boolean());
}

TEST(ConfigTree, MistakesNameFileAndLine) {
  const auto yaml = parse_yaml("a: 1\nb: [\n", "f.yaml");
  ASSERT_FALSE(yaml);
  EXPECT_EQ(yaml.error().kind, ErrorKind::usage);
  EXPECT_TRUE(yaml.error().message.starts_with("f.yaml:")) << yaml.error().message;
  const auto json = parse_json("{\"a\": ", "f.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "f.json: not valid JSON");
  const auto good = parse_yaml("a: 1\nb: 2\n", "f.yaml");
  EXPECT_EQ(good->wrong(*good->root.find("b"), "no").value().message, "f.yaml:2: no");
  const auto flat = parse_json("{}", "f.json");
  EXPECT_EQ(flat->wrong(flat->root, "no").value().message, "f.json: no");
}

TEST(ConfigTree, EmptyDocumentIsNull) {
  const auto document = parse_yaml("", "f");
  ASSERT_TRUE(document);
  EXPECT_TRUE(document->root.is_null());
}

TEST(ConfigTree, PlainNullsAreNullAndQuotedTextsAreTexts) {
  const auto document = parse_yaml("[~, null, Null, NULL, '', \"~\", nUll]\n", "f");
  ASSERT_TRUE(document) << document.error().message;
  const auto& items = document->root.children;
  ASSERT_EQ(items.size(), 7U);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(items[i].is_null()) << i;
  EXPECT_TRUE(items[4].is_scalar() && items[4].quoted && items[4].text.empty());
  EXPECT_TRUE(items[5].quoted && items[5].text == "~");
  EXPECT_TRUE(items[6].is_scalar() && !items[6].quoted);
  const auto block = parse_yaml("a: |\n  1\n  2\nb:\n", "f");
  EXPECT_TRUE(block->root.find("a")->quoted);
  EXPECT_EQ(block->root.find("a")->text, "1\n2\n");
  EXPECT_TRUE(block->root.find("b")->is_null());
}

TEST(ConfigTree, AliasesAreCopies) {
  const auto document = parse_yaml("a: &x {b: [1, 2]}\nc: *x\n? [k]\n: &x 3\nd: *x\n", "f.yaml");
  ASSERT_TRUE(document) << document.error().message;
  const ConfigNode& root = document->root;
  EXPECT_EQ(root.find("c")->find("b")->children[1].integer(), 2);
  EXPECT_EQ(root.find("c")->line, 2U);
  EXPECT_EQ(root.find("d")->integer(), 3);
  EXPECT_EQ(root.keys[2], "");  // a list used as a key has no text
  const auto unknown = parse_yaml("a: 1\nb: [*x]\n", "f.yaml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "f.yaml:2: not valid YAML: no '&x' before '*x'");
}

TEST(ConfigTree, OnlyTheFirstDocumentIsRead) {
  EXPECT_EQ(parse_yaml("a: 1\n---\na: 2\n", "f")->root.find("a")->integer(), 1);
}

// A recorded command line contains whatever bytes the user gave.
TEST(ConfigTree, BytesThatAreNoTextAreReplaced) {
  const auto document = parse_yaml(
      "\xEF\xBB\xBF"
      "a: \"x\xFF\x01\xC2\x80\xC3\xA9\"\nb: 2\n",
      "f");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root.find("a")->text, "x\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9");
  EXPECT_EQ(document->root.find("b")->integer(), 2);
  using namespace std::string_literals;
  const auto wide = parse_yaml(
      "\xFF\xFE"
      "a\0:\0 \0"
      "1\0"s,
      "f");
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(wide->root.find("a")->integer(), 1);
}

TEST(ConfigTree, DepthAndSizeAreBounded) {
  const auto deep = parse_json(std::string(5000, '[') + std::string(5000, ']'), "deep.json");
  ASSERT_FALSE(deep);
  EXPECT_TRUE(contains(deep.error().message, "deep.json: nested deeper")) << deep.error().message;
  EXPECT_FALSE(parse_yaml(std::string(5000, '[') + std::string(5000, ']'), "deep.yaml"));
  // Ten lines of aliases that stand for 10^10 values.
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous;
    for (int k = 1; k < 10; ++k) laughs += ", " + previous;
    laughs += "]\n";
  }
  const auto large = parse_yaml(laughs, "laughs.yaml");
  ASSERT_FALSE(large);
  EXPECT_TRUE(contains(large.error().message, "laughs.yaml")) << large.error().message;
}

}  // namespace
}  // namespace llmprof::config
