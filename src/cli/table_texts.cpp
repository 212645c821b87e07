#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cli/command_table.h"
#include "report/terminal/text_layout.h"
#include "session/version.h"

namespace llmprof::cli {
namespace {

constexpr size_t kLongestTerm = 24;  // a longer term gets its own line
constexpr size_t kHelpWidth = 100;   // line length in a pipe, and the maximum on a terminal

class HelpPage {
 public:
  explicit HelpPage(const report::TerminalStyle& style) : style_(style) {
    style_.width = style.width == 0 ? kHelpWidth : std::min(style.width, kHelpWidth);
  }

  void add_text(std::string_view text) {
    out_ += report::wrapped_behind("", "", text, style_.width) + '\n';
  }
  void add_usage(std::string_view usage) {
    out_ +=
        report::tinted("Usage:", report::Tint::heading, style_) + ' ' + std::string(usage) + "\n\n";
  }
  void add_list(std::string_view heading, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    out_ += '\n' + report::tinted(std::string(heading) + ':', report::Tint::heading, style_) + '\n';
    size_t width = 0;
    for (const Entry& entry : entries) {
      const size_t own = report::display_width(entry.term);
      if (own <= kLongestTerm) width = std::max(width, own);
    }
    const std::string rest(width + 4, ' ');
    for (const Entry& entry : entries) add_entry(entry, width, rest);
  }
  void add_examples(const std::vector<Entry>& examples) {
    if (examples.empty()) return;
    if (examples.size() == 1) {
      out_ += '\n' + report::tinted("Example:", report::Tint::heading, style_) + ' ' +
              examples.front().term + '\n';
      return;
    }
    out_ += '\n' + report::tinted("Examples:", report::Tint::heading, style_) + '\n';
    // A command is never wrapped, so that it can be copied.
    for (const auto& [command, about] : examples) {
      if (!about.empty()) {
        out_ += "  " + report::tinted("# " + about, report::Tint::quiet, style_) + '\n';
      }
      out_ += "  " + command + '\n';
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void add_entry(const Entry& entry, size_t width, const std::string& rest) {
    const size_t own = report::display_width(entry.term);
    std::string first = "  " + entry.term;
    if (own > width) {
      out_ += first + '\n';
      first = rest;
    } else {
      first += std::string(width - own + 2, ' ');
    }
    out_ += report::wrapped_behind(first, rest, entry.about, style_.width) + '\n';
  }

  report::TerminalStyle style_;
  std::string out_;
};

Entry entry_of(const CommandSpec& command) { return {command.name, command.summary}; }

Entry entry_of(const OptionSpec& option) { return {option_synopsis(option), option.help}; }

template <class Row>
std::vector<Entry> entries_of(const std::vector<Row>& rows) {
  std::vector<Entry> entries;
  entries.reserve(rows.size());
  for (const Row& row : rows) entries.push_back(entry_of(row));
  return entries;
}

// Options by heading, with headings in the table's order.
std::vector<std::pair<std::string, std::vector<Entry>>> by_group(const CommandSpec& command) {
  std::vector<std::pair<std::string, std::vector<Entry>>> groups;
  const auto add = [&](const OptionSpec& option) {
    const std::string name = option.group.empty() ? "Options" : option.group;
    auto group = std::ranges::find_if(groups, [&](const auto& each) { return each.first == name; });
    if (group == groups.end()) group = groups.insert(group, {name, {}});
    group->second.push_back(entry_of(option));
  };
  for (const OptionSpec& option : command.options) add(option);
  for (const OptionSpec& option : command_table().common_options) add(option);
  return groups;
}

// Escapes text for roff: backslashes and hyphens have a special meaning, and so have dots and
// apostrophes at the start of a line.
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
  for (const Entry& example : command.examples) page += escaped(example.term) + '\n';
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

std::string program_help(const report::TerminalStyle& style) {
  HelpPage page(style);
  page.add_usage("llmprof COMMAND [ARGUMENTS] [OPTIONS]");
  const CommandTable& table = command_table();
  page.add_text(table.summary);
  page.add_list("Commands", entries_of(table.commands));
  std::vector<Entry> options = entries_of(table.common_options);
  std::ranges::move(entries_of(table.program_options), std::back_inserter(options));
  page.add_list("Common options", options);
  page.add_list("Exit codes", table.exit_codes);
  page.add_examples(table.examples);
  return page.take();
}

std::string command_help(const CommandSpec& command, const report::TerminalStyle& style) {
  HelpPage page(style);
  page.add_usage(usage_line(command));
  page.add_text(command.summary);
  page.add_list("Arguments", entries_of(command.arguments));
  for (const auto& [heading, entries] : by_group(command)) page.add_list(heading, entries);
  if (!command.notes.empty()) {
    page.add_text("");
    page.add_text(command.notes);
  }
  page.add_examples(command.examples);
  return page.take();
}

std::string manual_page() {
  const CommandTable& table = command_table();
  std::string page =
      fmt::format(".TH LLMPROF 1 \"\" \"llmprof {}\" \"User Commands\"\n", session::kVersion);
  page += ".SH NAME\nllmprof \\- a deep profiler for LLM inference on NVIDIA GPUs\n";
  page += ".SH SYNOPSIS\n.nf\n";
  for (const CommandSpec& command : table.commands) page += escaped(usage_line(command)) + '\n';
  page += ".fi\n.SH DESCRIPTION\n" + escaped(table.description) + "\n.SH COMMANDS\n";
  for (const CommandSpec& command : table.commands) add_command(command, page);
  page += ".SH COMMON OPTIONS\n";
  for (const auto* options : {&table.common_options, &table.program_options}) {
    for (const OptionSpec& option : *options) add_entry(term(option), option.help, page);
  }
  page += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : table.exit_codes) add_entry(bold(code), meaning, page);
  page += ".SH ENVIRONMENT\n";
  for (const auto& [name, help] : table.environment_variables) add_entry(bold(name), help, page);
  page += ".SH FILES\n";
  for (const auto& [name, content] : table.files) add_entry(italic(name), content, page);
  page += ".SH SEE ALSO\n.BR nsys (1),\n.BR ncu (1)\n";
  return page;
}

}  // namespace llmprof::cli
