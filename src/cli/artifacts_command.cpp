#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "report/terminal/terminal.h"
#include "session/bundle/list_artifacts.h"

namespace llmprof::cli {
namespace {

report::Document as_table(const session::ArtifactList& list) {
  report::Table table;
  table.columns = {{"file", report::Column::Kind::code, 1},
                   {"bytes", report::Column::Kind::number},
                   {"kind", report::Column::Kind::text, -1}};
  for (const session::ArtifactFile& file : list.files) {
    table.rows.push_back({file.name, std::to_string(file.bytes), file.kind});
  }
  report::Document document;
  document.add(report::Paragraph{list.folder.string()});
  document.add(std::move(table));
  return document;
}

}  // namespace

int artifacts_command(const Arguments& arguments) {
  const auto list = session::list_artifacts(arguments.path("RUN").value_or(""));
  if (!list) return complain(list.error());
  if (arguments.flag("--json")) {
    print_json(to_json(*list));
  } else {
    print_rendered(report::to_terminal(as_table(*list), arguments.style()));
  }
  return finish_output();
}

}  // namespace llmprof::cli
