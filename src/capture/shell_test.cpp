#include "capture/shell.h"

#include <gtest/gtest.h>

#include "capture/process.h"

namespace llmprof::capture {
namespace {

// The shell itself is the judge: it must split the line into the words that went in.
TEST(ShellLine, IsReadByAShellAsItWasMeant) {
  const std::vector<std::string> argv = {"printf", "%s|",       "plain-1.0/a@b:c,d",
                                         "",       "two words", "$HOME `id` \"x\" \\",
                                         "it's",   "a\nb",      "*",
                                         "~",      "-n",        "\xC3\xA9"};
  std::string expected;
  for (size_t i = 2; i < argv.size(); ++i) expected += argv[i] + "|";
  Command command;
  command.argv = {"/bin/sh", "-c", shell_line(argv)};
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output_tail, expected);
}

// Bash's own quotes, if a terminal would obey a character.
TEST(ShellLine, SpellsWhatATerminalWouldObey) {
  const std::vector<std::string> argv = {"printf",          "%s|",    "\x1B[31m",
                                         "it's \xC2\x9B\\", "\u202E", "\xFF"};
  const std::string line = shell_line(argv);
  EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 0x7F; }))
      << line;
  Command command;
  command.argv = {"/bin/bash", "-c", line};
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output_tail, "\x1B[31m|it's \xC2\x9B\\|\u202E|\xFF|");
}

TEST(ShellLine, PutsTheVariablesInFront) {
  const std::vector<std::string> argv = {"/bin/sh", "-c", "printf %s \"$LLMPROF_TEST_SAID\""};
  const std::vector<std::pair<std::string, std::string>> environment = {
      {"LLMPROF_TEST_SAID", "a 'b' $c"}};
  Command command;
  command.argv = {"/bin/sh", "-c", shell_line(argv, environment)};
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output_tail, "a 'b' $c");
}

TEST(ShellLine, QuotesAProgramThatLooksLikeAnAssignment) {
  const std::vector<std::string> argv = {"./a=b", "c=d"};
  EXPECT_EQ(shell_line(argv), "'./a=b' c=d");
}

TEST(ShellLine, HidesSecrets) {
  const std::vector<std::string> argv = {"serve", "--api-key", "X", "HF_TOKEN=Y"};
  const std::vector<std::pair<std::string, std::string>> environment = {{"API_KEY", "Z"},
                                                                        {"N", "1"}};
  EXPECT_EQ(shell_line(argv, environment),
            "API_KEY='***' N=1 serve --api-key '***' 'HF_TOKEN=***'");
}

}  // namespace
}  // namespace llmprof::capture
