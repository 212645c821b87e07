#include "cli/command_table.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/arguments.h"

namespace llmprof::cli {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

TEST(CommandTable, EveryCommandIsComplete) {
  std::set<std::string_view> names;
  for (const CommandSpec& command : command_table().commands) {
    SCOPED_TRACE(command.name);
    EXPECT_TRUE(names.insert(command.name).second);
    EXPECT_FALSE(command.summary.empty());
    EXPECT_FALSE(command.summary.ends_with('.'));
    EXPECT_FALSE(command.examples.empty());
    EXPECT_NE(command.run, nullptr);
    EXPECT_EQ(find_command(command.name), &command);
    for (size_t i = 0; i + 1 < command.arguments.size(); ++i) {
      EXPECT_FALSE(command.arguments[i].repeatable);
    }
  }
  EXPECT_EQ(find_command("analyse"), nullptr);
}

void expect_complete(const OptionSpec& option) {
  SCOPED_TRACE(option.name);
  // A word, or one letter: -f.
  const bool is_letter = option.name.size() == 2 && option.name[1] != '-';
  EXPECT_TRUE(option.name.starts_with(is_letter ? "-" : "--"));
  EXPECT_FALSE(option.help.empty());
  EXPECT_FALSE(option.help.ends_with('.'));
  EXPECT_EQ(option.metavar.empty(), option.takes == Takes::nothing);
  if (option.is_open) {
    EXPECT_FALSE(option.choices.empty());
  }
}

TEST(CommandTable, EveryOptionIsComplete) {
  for (const CommandSpec& command : command_table().commands) {
    std::set<std::string_view> names;
    for (const OptionSpec& option : command.options) {
      expect_complete(option);
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
    }
    for (const OptionSpec& option : command_table().common_options) {
      expect_complete(option);
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
    }
  }
}

// Users copy examples, so the parser must accept each.
TEST(CommandTable, EveryExampleIsValid) {
  size_t checked = 0;
  for (const CommandSpec& command : command_table().commands) {
    for (const Entry& example : command.examples) {
      std::string_view line = example.term;
      if (!line.starts_with("llmprof ")) continue;
      line = line.substr(0, line.find(" |"));
      const ParsedLine parsed = parse_line(words_of(line.substr(sizeof("llmprof"))));
      EXPECT_EQ(parsed.command, &command) << example.term;
      ++checked;
    }
  }
  EXPECT_GE(checked, 10U);
}

TEST(Help, HasEveryOptionAndAnExample) {
  for (const CommandSpec& command : command_table().commands) {
    const std::string help = command_help(command, {80, false});
    EXPECT_TRUE(help.starts_with("Usage: " + usage_line(command) + "\n")) << help;
    EXPECT_NE(help.find("Example"), std::string::npos) << help;
    for (const OptionSpec& option : command.options) {
      EXPECT_NE(help.find("  " + option_synopsis(option)), std::string::npos) << option.name;
    }
    EXPECT_NE(help.find("--color WHEN"), std::string::npos);
    EXPECT_NE(help.find("-h, --help"), std::string::npos);
  }
}

TEST(Help, ListsAllCommands) {
  const std::string help = program_help({});
  for (const CommandSpec& command : command_table().commands) {
    const bool listed = help.find("\n  " + std::string(command.name) + " ") != std::string::npos;
    EXPECT_TRUE(listed) << command.name;
  }
}

TEST(Help, KeepsToTheWidthExceptForCommands) {
  for (const size_t width : {50U, 80U}) {
    const std::string help = command_help(*find_command("analyze"), {width, false});
    size_t begin = 0;
    while (begin < help.size()) {
      const size_t end = help.find('\n', begin);
      const std::string line = help.substr(begin, end - begin);
      if (line.find("llmprof ") == std::string::npos) {
        EXPECT_LE(line.size(), width) << line;
      }
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace llmprof::cli
