#include "cli/table_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/command_table.h"
#include "session/version.h"

namespace llmprof::cli {
namespace {

// Text for roff: a backslash and a hyphen have meanings of their own, and so has a dot or an
// apostrophe at the front of a line.
std::string escaped(std::string_view text) {
  struct Special {
    char character;
    std::string_view roff;
  };
  constexpr auto kSpecial =
      std::to_array<Special>({{'\\', "\\e"}, {'-', "\\-"}, {'`', "\\(aq"}, {'~', "\\(ti"}});
  std::string roff;
  for (const char c : text) {
    if (roff.empty() && (c == '.' || c == '\'')) roff += "\\&";
    const auto special = std::ranges::find(kSpecial, c, &Special::character);
    roff += special == kSpecial.end() ? std::string(1, c) : std::string(special->roff);
  }
  return roff;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string term(const OptionSpec& option) {
  std::string text = option.name == "--help" ? bold("-h") + ", " : "";
  text += bold(option.name);
  if (!option.metavar.empty()) text += ' ' + italic(option.metavar);
  return text;
}

void add_entry(std::string_view roff_term, std::string_view about, std::string& page) {
  page += fmt::format(".TP\n{}\n{}\n", roff_term, escaped(about));
}

void add_options(std::span<const OptionSpec> options, std::string& page) {
  std::string_view group;
  for (const OptionSpec& option : options) {
    if (option.group != group) page += fmt::format(".PP\n{}:\n", escaped(option.group));
    group = option.group;
    add_entry(term(option), option.help, page);
  }
}

void add_examples(const CommandSpec& command, std::string& page) {
  if (command.examples.empty()) return;
  page += fmt::format(".PP\n{}:\n", command.examples.size() == 1 ? "Example" : "Examples");
  page += ".PP\n.nf\n.RS\n";
  for (const Example& example : command.examples) page += escaped(example.command) + '\n';
  page += ".RE\n.fi\n";
}

void add_command(const CommandSpec& command, std::string& page) {
  page += fmt::format(".SS {}\n{}\n.PP\n{}.\n", escaped(command.name), escaped(usage_line(command)),
                      escaped(command.summary));
  for (const OptionSpec& argument : command.arguments) {
    add_entry(italic(argument.name), argument.help, page);
  }
  add_options(command.options, page);
  if (!command.notes.empty()) page += ".PP\n" + escaped(command.notes) + '\n';
  add_examples(command, page);
}

}  // namespace

std::string manual_page() {
  std::string page =
      fmt::format(".TH LLMPROF 1 \"\" \"llmprof {}\" \"User Commands\"\n", session::kVersion);
  page += ".SH NAME\nllmprof \\- a deep profiler for LLM inference on NVIDIA GPUs\n";
  page += ".SH SYNOPSIS\n.nf\n";
  for (const CommandSpec& command : all_commands()) {
    page += escaped(usage_line(command)) + '\n';
  }
  page += ".fi\n.SH DESCRIPTION\n";
  page += escaped(
      "llmprof runs a workload, or reads what Nsight Systems, Nsight Compute or PyTorch recorded. "
      "It reports how long prefill and decode take, where the time of each token goes, how far "
      "that is from the hardware limit, and what to fix first.");
  page += "\n.SH COMMANDS\n";
  for (const CommandSpec& command : all_commands()) {
    add_command(command, page);
  }
  page += ".SH COMMON OPTIONS\n";
  for (const auto& options : {common_options(), program_options()}) {
    for (const OptionSpec& option : options) add_entry(term(option), option.help, page);
  }
  page += ".SH EXIT STATUS\n";
  for (const ExitCodeSpec& each : exit_codes()) {
    add_entry(bold(std::to_string(each.code)), each.meaning, page);
  }
  page += ".SH ENVIRONMENT\n";
  for (const VariableSpec& each : environment_variables()) {
    add_entry(bold(each.name), each.help, page);
  }
  page += ".SH FILES\n";
  add_entry(italic("tmp/stage2/RUN"), "Bundle of a run, unless --out names another folder.", page);
  add_entry(italic("tmp/analyze/RUN"), "Bundle of an analysis.", page);
  page += ".SH SEE ALSO\n.BR nsys (1),\n.BR ncu (1)\n";
  return page;
}

}  // namespace llmprof::cli
