#include "report/markdown.h"

#include <gtest/gtest.h>

#include "report/numbers.h"
#include "report/terminal/terminal.h"

namespace llmprof {
namespace {

TEST(Markdown, LetsNoTextOutOfItsPlace) {
  EXPECT_EQ(markdown_text("a|b <unnamed> `c` *d* & e"),
            "a\\|b \\<unnamed\\> \\`c\\` \\*d\\* &amp; e");
  EXPECT_EQ(markdown_text("line\nbreak"), "line break");
  EXPECT_EQ(markdown_code("a|b<c>"), "`a\\|b<c>`");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
}

TEST(Markdown, EscapesUnderscoresAtTheEdgeOfAWord) {
  EXPECT_EQ(markdown_text("total_ms of __half and x_"), "total_ms of \\_\\_half and x\\_");
}

TEST(Markdown, ShowsCommandsInProseAsTyped) {
  EXPECT_EQ(markdown_prose("run `nsys -t <x>` *now*"), "run `nsys -t <x>` \\*now\\*");
  EXPECT_EQ(markdown_prose("`anonymous namespace'::k"), "\\`anonymous namespace'::k");
  EXPECT_EQ(markdown_prose("`` x"), "\\`\\` x");
}

TEST(Markdown, LinksFiles) {
  Document document;
  document.add(LinkList{{{"kernels.md", "every kernel"}}});
  EXPECT_EQ(to_markdown(document), "- [kernels.md](kernels.md): every kernel\n");
  EXPECT_EQ(to_terminal(document), "  - kernels.md: every kernel\n");
}

TEST(Markdown, WritesTables) {
  Document document;
  document.add(Heading{2, "T"});
  document.add(Table{{{"name", Column::Kind::code}, {"ms", Column::Kind::number}},
                     {{"k", "1.5"}, {"short row"}}});
  EXPECT_EQ(to_markdown(document),
            "## T\n\n| name | ms |\n| --- | ---: |\n| `k` | 1.5 |\n| `short row` |  |\n");
}

TEST(Terminal, AlignsByCharacters) {
  Document document;
  document.add(
      Table{{{"name"}, {"ms", Column::Kind::number}}, {{"\xC3\xA4", "1.5"}, {"bb", "10.25"}}});
  EXPECT_EQ(to_terminal(document), "  name     ms\n  \xC3\xA4       1.5\n  bb    10.25\n");
}

TEST(Numbers, AreExact) {
  EXPECT_EQ(exact_ms(57331089), "57.331089");
  EXPECT_EQ(exact_ms(9), "0.000009");
  EXPECT_EQ(exact_ms(-1500000), "-1.500000");
  EXPECT_EQ(percent(0.75453), "75.5 %");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(41227), "41,227");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(4465, "kernel"), "4,465 kernels");
  EXPECT_EQ(counted(0, "launch", "launches"), "0 launches");
  EXPECT_EQ(ms(57331589.0), "57.332");
  EXPECT_EQ(fine_ms(1560.0), "0.0016");
  EXPECT_EQ(ms(std::optional<double>()), "-");
  EXPECT_EQ(scaled(2.5e12, "FLOP"), "2.50 TFLOP");
  EXPECT_EQ(scaled(0.0, "B"), "0 B");
  EXPECT_EQ(scaled(999.4, "B"), "999.40 B");
  EXPECT_EQ(plain(462), "462");
  EXPECT_EQ(plain(462.25), "462.2");
  EXPECT_EQ(mean_and_std(summarise({1000000, 3000000})), "2.000 \xC2\xB1 1.414");
  EXPECT_EQ(mean_and_std(summarise({1000000})), "1.000");
  EXPECT_EQ(mean_and_std({}), "-");
}

}  // namespace
}  // namespace llmprof
