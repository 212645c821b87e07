#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/collector_control.h"
#include "cli/command.h"

namespace llmprof::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);

struct Arguments {
  pid_t pid = 0;
  bool json = false;
};

std::string in_quotes(std::string_view printable) {
  std::string json = "\"";
  for (const char c : printable) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

int ask(const Arguments& arguments, std::string_view question) {
  const auto answer = ask_collector(arguments.pid, question, kPatience);
  if (arguments.json) {
    fmt::print("{{\"pid\": {}, \"command\": \"{}\", \"ok\": {}, \"message\": {}}}\n", arguments.pid,
               question, answer.has_value(), in_quotes(answer ? *answer : answer.error().message));
  } else if (answer) {
    fmt::print("process {}: {}\n", arguments.pid, *answer);
  }
  const int told = finish_output();
  return answer ? told : complain(answer.error());
}

void add_command(CLI::App& program, const char* name, const char* about, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(name, about);
  command->add_option("PID", arguments->pid, "The process, which has the collector loaded")
      ->required()
      ->check(CLI::Range(1, std::numeric_limits<pid_t>::max()))
      ->type_name("");
  command->add_flag("--json", arguments->json, "The answer for machines");
  command->footer(
      fmt::format("The collector must be in the process from its start (docs/collector.md), and "
                  "answers its own "
                  "user and root.\nExample: llmprof {} 4711",
                  name));
  command->callback(
      [arguments, name, &exit_code] { exit_code = ask(*arguments, std::string_view(name)); });
}

}  // namespace

void add_arm_commands(CLI::App& program, int& exit_code) {
  add_command(program, "arm", "Begin to record in a running process that has the collector loaded",
              exit_code);
  add_command(program, "disarm", "Stop recording in a running process; it goes on at its own speed",
              exit_code);
}

}  // namespace llmprof::cli
