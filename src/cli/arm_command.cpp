#include <fmt/format.h>

#include "base/text.h"
#include "capture/collector_control.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/output.h"

namespace llmprof::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);

std::string in_quotes(std::string_view printable) {
  std::string json = "\"";
  for (const char c : printable) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

int ask(const Arguments& arguments, std::string_view question) {
  const auto pid = static_cast<pid_t>(arguments.number("PID").value_or(0));
  const auto answer = ask_collector(pid, question, kPatience);
  if (arguments.flag("--json")) {
    const std::string message = to_printable(answer ? *answer : answer.error().message);
    print_json(fmt::format("{{\"pid\": {}, \"command\": \"{}\", \"ok\": {}, \"message\": {}}}\n",
                           pid, question, answer.has_value(), in_quotes(message)));
  } else if (answer) {
    print_text(fmt::format("process {}: {}\n", pid, *answer));
  }
  const int told = finish_output();
  return answer ? told : complain(answer.error());
}

}  // namespace

int arm_command(const Arguments& arguments) { return ask(arguments, "arm"); }

int disarm_command(const Arguments& arguments) { return ask(arguments, "disarm"); }

}  // namespace llmprof::cli
