#include "report/writers/writers.h"

#include <gtest/gtest.h>

#include "report/format/figures.h"

namespace llmprof::report {
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
}

TEST(Markdown, ShowsPicturesWithTheirWords) {
  Document document;
  document.add(Image{"plots/budget.svg", "decode: gemm 45.0 %, [idle] <img>"});
  EXPECT_EQ(to_markdown(document),
            "![decode: gemm 45.0 %, \\[idle\\] \\<img\\>](plots/budget.svg)\n");
}

TEST(Markdown, WritesTables) {
  Document document;
  document.add(Heading{2, "T"});
  document.add(Table{{{"name", Column::Kind::code}, {"ms", Column::Kind::number}},
                     {{"k", ms(profile::Milliseconds{1.5})}, {"short row"}}});
  EXPECT_EQ(to_markdown(document),
            "## T\n\n| name | ms |\n| --- | ---: |\n| `k` | 1.500 |\n| `short row` |  |\n");
}

}  // namespace
}  // namespace llmprof::report
