#include "report/writers/writers.h"

#include <gtest/gtest.h>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

TEST(Html, NamesStayText) {
  Document document;
  document.add(Heading{2, "<img src=x onerror=alert(1)>"});
  document.add(Paragraph{"a & b `</code><script>` \"c\" 'd'"});
  Table table;
  table.columns = {{"kernel", Column::Kind::code}, {"<b>", Column::Kind::number}};
  table.rows.push_back({std::string("f<int>"), ms(profile::Milliseconds{1.5})});
  document.add(std::move(table));
  const std::string html = to_html(document);
  EXPECT_EQ(html,
            "<h2>&lt;img src=x onerror=alert(1)&gt;</h2>\n"
            "<p>a &amp; b <code>&lt;/code&gt;&lt;script&gt;</code> &quot;c&quot; &#39;d&#39;</p>\n"
            "<div class=\"table\"><table>\n"
            "<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\" "
            "class=\"number\">&lt;b&gt;</th></tr></thead>\n"
            "<tbody>\n"
            "<tr><td><code>f&lt;int&gt;</code></td><td class=\"number\">1.500</td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(Html, PicturesAreNamed) {
  Document document;
  document.add(Image{"plots/budget.svg", "decode: <gemm> 40 %"});
  EXPECT_EQ(to_html(document), "<p>decode: &lt;gemm&gt; 40 %</p>\n");
}

TEST(Html, ListsAndCallouts) {
  Document document;
  document.add(BulletList{{"one", "<two>"}});
  document.add(Callout{Callout::Kind::warning, "take care"});
  EXPECT_EQ(to_html(document),
            "<ul>\n<li>one</li>\n<li>&lt;two&gt;</li>\n</ul>\n"
            "<p class=\"warning\">take care</p>\n");
}

}  // namespace
}  // namespace llmprof::report
