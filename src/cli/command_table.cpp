#include "cli/command_table.h"

#include <algorithm>
#include <array>

#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "config/conf_files.h"
#include "config/settings.h"
#include "session/bundle/export_rows.h"

namespace llmprof::cli {
namespace {

using config::ConfigNode;
using config::Settings;

struct CommandFunction {
  std::string_view name;
  int (*run)(const Arguments&);
};
constexpr auto kFunctions = std::to_array<CommandFunction>({{"run", run_command},
                                                            {"analyze", analyze_command},
                                                            {"merge", merge_command},
                                                            {"report", report_command},
                                                            {"open", open_command},
                                                            {"diff", diff_command},
                                                            {"query", query_command},
                                                            {"export", export_command},
                                                            {"mcp", mcp_command},
                                                            {"load", load_command},
                                                            {"artifacts", artifacts_command},
                                                            {"doctor", doctor_command},
                                                            {"fit", fit_command},
                                                            {"arm", arm_command},
                                                            {"disarm", disarm_command},
                                                            {"version", version_command},
                                                            {"completion", completion_command},
                                                            {"manual", manual_command}});

std::vector<Entry> read_entries(const ConfigNode& map) {
  std::vector<Entry> entries;
  entries.reserve(map.keys.size());
  for (size_t i = 0; i < map.keys.size(); ++i) {
    entries.push_back({map.keys[i], map.children[i].text});
  }
  return entries;
}

class TableReader {
 public:
  explicit TableReader(const config::ConfigDocument& document) : document_(document) {}

  [[nodiscard]] CommandTable read() const {
    const ConfigNode& root = document_.root;
    CommandTable table;
    table.summary = root["summary"].text;
    table.description = root["description"].text;
    table.examples = read_entries(root["examples"]);
    const ConfigNode& commands = root["commands"];
    Settings listed(document_, commands, "commands");
    for (const CommandFunction& function : kFunctions) {
      listed.allow({function.name});
      table.commands.push_back(command(function, commands[function.name]));
    }
    listed.refuse_unknown_keys();
    add_options(root["common_options"], "Common options", table.common_options);
    add_options(root["program_options"], "Common options", table.program_options);
    table.exit_codes = read_entries(root["exit_codes"]);
    table.environment_variables = read_entries(root["environment_variables"]);
    table.files = read_entries(root["files"]);
    return table;
  }

 private:
  [[nodiscard]] CommandSpec command(const CommandFunction& function, const ConfigNode& node) const {
    CommandSpec spec;
    spec.name = function.name;
    spec.run = function.run;
    Settings settings(document_, node, spec.name);
    spec.summary = settings.text("summary");
    spec.takes_program = settings.boolean("takes_program", false);
    spec.notes = settings.text("notes");
    settings.allow({"arguments", "options", "groups", "examples"});
    settings.refuse_unknown_keys();
    add_options(node["arguments"], {}, spec.arguments);
    add_options(node["options"], {}, spec.options);
    const ConfigNode& groups = node["groups"];
    for (size_t i = 0; i < groups.keys.size(); ++i) {
      add_options(groups.children[i], groups.keys[i], spec.options);
    }
    spec.examples = read_entries(node["examples"]);
    return spec;
  }

  void add_options(const ConfigNode& map, const std::string& group,
                   std::vector<OptionSpec>& options) const {
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i] != "exports") {
        options.push_back(option(map.keys[i], map.children[i]));
        options.back().group = group;
        continue;
      }
      for (const session::ExportRow& row : session::kExports) {
        if (row.option.empty()) continue;
        OptionSpec& spec = options.emplace_back();
        spec.name = row.option;
        spec.help = row.help;
      }
    }
  }

  [[nodiscard]] OptionSpec option(const std::string& key, const ConfigNode& node) const {
    constexpr std::string_view kTakes = "text number file folder path";  // as in the enumeration
    OptionSpec spec;
    const size_t blank = std::min(key.find(' '), key.size());
    spec.name = key.substr(0, blank);
    spec.metavar = key.substr(std::min(blank + 1, key.size()));
    if (node.is_scalar()) {
      spec.help = node.text;
      spec.takes = spec.metavar.empty() ? Takes::nothing : Takes::text;
      return spec;
    }
    Settings settings(document_, node, key);
    const auto words = split(kTakes, ' ');
    const auto takes = std::ranges::find(words, settings.one_of("takes", kTakes, "text"));
    spec.takes = static_cast<Takes>(takes - words.begin() + 1);
    spec.help = settings.text("help");
    spec.choices = settings.texts("choices");
    if (spec.choices == std::vector<std::string>{"exports"}) {
      spec.choices.clear();
      for (const session::ExportRow& row : session::kExports) spec.choices.emplace_back(row.name);
    }
    spec.is_open = settings.boolean("open", false);
    spec.choices_of = settings.text("choices_of");
    spec.least = settings.whole("least", spec.least);
    spec.most = settings.whole("most", spec.most);
    spec.repeatable = settings.boolean("repeatable", false);
    spec.required = !settings.boolean("optional", false);
    settings.refuse_unknown_keys();
    return spec;
  }

  const config::ConfigDocument& document_;
};

}  // namespace

const CommandTable& command_table() {
  static const CommandTable table = [] {
    const auto text = config::built_in_conf("commands.yaml");
    return TableReader(needed(config::parse_yaml(text->text, text->name))).read();
  }();
  return table;
}

const CommandSpec* find_command(std::string_view name) {
  const auto& commands = command_table().commands;
  const auto found = std::ranges::find(commands, name, &CommandSpec::name);
  return found == commands.end() ? nullptr : &*found;
}

std::string option_synopsis(const OptionSpec& option) {
  const std::string text = option.name == "--help" ? "-h, --help" : option.name;
  return option.metavar.empty() ? text : text + ' ' + option.metavar;
}

std::string usage_line(const CommandSpec& command) {
  std::string line = "llmprof " + command.name;
  for (const OptionSpec& argument : command.arguments) {
    const std::string text = argument.name + (argument.repeatable ? "..." : "");
    line += argument.required ? ' ' + text : " [" + text + ']';
  }
  if (!command.options.empty()) line += " [OPTIONS]";
  if (command.takes_program) line += " [-- PROGRAM ARGUMENT...]";
  return line;
}

}  // namespace llmprof::cli
