#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "report/terminal.h"
#include "session/bundle/list_artifacts.h"

namespace llmprof::cli {
namespace {

struct Arguments {
  std::filesystem::path run;
  bool json = false;
};

report::Document as_table(const session::ArtifactList& list) {
  report::Table table;
  table.columns = {{"file", report::Column::Kind::text},
                   {"bytes", report::Column::Kind::number},
                   {"kind", report::Column::Kind::text}};
  for (const session::ArtifactFile& file : list.files) {
    table.rows.push_back({file.name, std::to_string(file.bytes), file.kind});
  }
  report::Document document;
  document.add(report::Paragraph{list.folder.string()});
  document.add(std::move(table));
  return document;
}

int show(const Arguments& arguments) {
  const auto list = session::list_artifacts(arguments.run);
  if (!list) return complain(list.error());
  fmt::print("{}", arguments.json ? session::to_json(*list) : report::to_terminal(as_table(*list)));
  return finish_output();
}

}  // namespace

void add_artifacts_command(CLI::App& program, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      program.add_subcommand("artifacts", "List the files of a run with their sizes and kinds");
  command->add_option("RUN", arguments->run, "A run's folder, or its id under tmp/stage2")
      ->required();
  command->add_flag("--json", arguments->json, "The same facts for machines");
  command->footer("Example: llmprof artifacts tmp/stage2/20261115-101500");
  command->callback([arguments, &exit_code] { exit_code = show(*arguments); });
}

}  // namespace llmprof::cli
