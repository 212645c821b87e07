#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/version.h"

namespace llmprof::cli {
namespace {

int print(const std::string& text) {
  print_rendered(text);
  return finish_output();
}

}  // namespace

int version_command(const Arguments& /*arguments*/) {
  return print(fmt::format("llmprof {}\n", kVersion));
}

int completion_command(const Arguments& arguments) {
  const auto groups = session::configuration_choices();
  return print(arguments.text("SHELL") == "zsh" ? zsh_completion(groups) : bash_completion(groups));
}

int manual_command(const Arguments& /*arguments*/) { return print(manual_page()); }

}  // namespace llmprof::cli
