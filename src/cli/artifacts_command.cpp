#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/messages.h"
#include "report/terminal/terminal.h"
#include "session/list_artifacts.h"

namespace llmprof {
namespace {

Document as_table(const ArtifactList& list) {
  Table table;
  table.columns = {{"file", Column::Kind::code, 1},
                   {"bytes", Column::Kind::number},
                   {"kind", Column::Kind::text, -1}};
  for (const ArtifactFile& file : list.files) {
    table.rows.push_back({file.name, std::to_string(file.bytes), file.kind});
  }
  Document document;
  document.add(Paragraph{list.folder.string()});
  document.add(std::move(table));
  return document;
}

}  // namespace

int artifacts_command(const Arguments& arguments) {
  const auto list = list_artifacts(arguments.path("RUN").value_or(""));
  if (!list) return complain(list.error());
  fmt::print("{}", arguments.flag("--json") ? to_json(*list)
                                            : to_terminal(as_table(*list), arguments.style()));
  return finish_output();
}

}  // namespace llmprof
