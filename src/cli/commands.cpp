#include "cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.h"
#include "base/needed.h"
#include "base/text.h"
#include "capture/collector_socket.h"
#include "capture/process.h"
#include "capture/shell.h"
#include "cli/command_table.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "report/writers/writers.h"
#include "session/bundle/bundle_files.h"
#include "session/version.h"

namespace llmprof::cli {
namespace {

int ask(const Arguments& arguments, std::string_view question) {
  const auto pid = static_cast<pid_t>(arguments.number("PID").value_or(0));
  const auto answer = capture::ask_collector(pid, question, std::chrono::seconds(2));
  if (arguments.flag("--json")) {
    const std::string message = to_printable(answer ? *answer : answer.error().message);
    print_json(fmt::format("{{\"pid\": {}, \"command\": \"{}\", \"ok\": {}, \"message\": {}}}\n",
                           pid, question, answer.has_value(), in_quotes(message)));
  } else if (answer) {
    print_text(fmt::format("process {}: {}\n", pid, *answer));
  }
  const int printed = finish_output();
  return answer ? printed : complain(answer.error());
}

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

using CommandLine = std::vector<std::string>;

bool on_path(const std::string& program) {
  return capture::find_executable(program, environment_variable("PATH")).has_value();
}

// $BROWSER is a list of command lines in which %s stands for the page; without %s it comes last.
std::optional<CommandLine> browser_of_user(const std::string& page) {
  const std::string commands = environment_variable("BROWSER");
  for (const std::string_view line : split(commands, ':')) {
    CommandLine words;
    for (const std::string_view word : split(line, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    if (words.empty() || !on_path(words.front())) continue;
    bool placed = false;
    for (std::string& word : words) {
      if (const size_t at = word.find("%s"); at != std::string::npos) {
        word.replace(at, 2, page);
        placed = true;
      }
    }
    if (!placed) words.push_back(page);
    return words;
  }
  return std::nullopt;
}

// None if this machine cannot show a page: a server, a container.
std::optional<CommandLine> opener(const std::string& page) {
  if (auto words = browser_of_user(page)) return words;
  const bool screen =
      !environment_variable("DISPLAY").empty() || !environment_variable("WAYLAND_DISPLAY").empty();
  if (screen && on_path("xdg-open")) return CommandLine{"xdg-open", page};
  return std::nullopt;
}

}  // namespace

int arm_command(const Arguments& arguments) { return ask(arguments, "arm"); }

int disarm_command(const Arguments& arguments) { return ask(arguments, "disarm"); }

int artifacts_command(const Arguments& arguments) {
  const auto list = needed(session::list_artifacts(arguments.text("RUN").value_or("")));
  if (arguments.flag("--json")) {
    print_json(to_json(list));
  } else {
    print_rendered(report::to_terminal(as_table(list), arguments.style()));
  }
  return finish_output();
}

int open_command(const Arguments& arguments) {
  constexpr std::chrono::milliseconds kPatience(3000);
  const std::string page = needed(session::find_page(arguments.text("RUN").value_or(""))).string();
  const auto words = opener(page);
  if (!words) {
    print_text(fmt::format("No browser to open it here; open this file in one:\n{}\n", page));
    return finish_output();
  }
  if (const auto opened = capture::open_detached(*words, kPatience); !opened) {
    return complain({opened.error().kind, fmt::format("{}; open this file in a browser: {}",
                                                      opened.error().message, page)});
  }
  print_text(fmt::format("Opened {}\n", page));
  return finish_output();
}

int version_command(const Arguments& /*arguments*/) {
  return print(fmt::format("llmprof {}\n", session::kVersion));
}

int completion_command(const Arguments& arguments) {
  const auto groups = session::configuration_choices();
  return print(arguments.text("SHELL") == "zsh" ? zsh_completion(groups) : bash_completion(groups));
}

int manual_command(const Arguments& /*arguments*/) { return print(manual_page()); }

}  // namespace llmprof::cli
