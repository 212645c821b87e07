#include "page/page.h"

#include "page/shell.h"
#include "page/view.h"
#include "report/documents/documents.h"
#include "report/html/html.h"

namespace llmprof::page {

std::string make_page(const Bundle& bundle, const Content& content) {
  const std::string view = view_json(content);
  std::vector<NamedBytes> blocks = {{"profile", content.json}, {"view", view}};
  for (const Block& block : content.timeline) blocks.push_back({block.name, block.bytes});
  return make_shell(bundle, report::page_title(content.profile),
                    report::to_html(report::page_overview(content.profile)), blocks);
}

}  // namespace llmprof::page
