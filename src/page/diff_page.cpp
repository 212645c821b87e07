#include "page/diff_page.h"

#include "page/shell.h"
#include "page/view.h"
#include "report/diff/diff_report.h"
#include "report/html/html.h"

namespace llmprof::page {

std::string make_diff_page(const Bundle& bundle, const DiffContent& content) {
  const std::string view = diff_view_json(content.diff);
  return make_shell(bundle, report::diff_title(content.diff),
                    report::to_html(report::diff_page_overview(content.diff)),
                    {{"diff", content.json}, {"view", view}});
}

}  // namespace llmprof::page
