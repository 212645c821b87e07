#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/needed.h"

namespace llmprof::cli {
namespace {

using Line = std::vector<std::string>;

Arguments parsed(const Line& words) { return {parse_line(words), {}}; }

std::string complaint(const Line& words) {
  const auto line = attempt([&] { return parse_line(words); });
  if (line) return "no complaint";
  EXPECT_EQ(line.error().kind, ErrorKind::usage);
  return line.error().message;
}

TEST(Parse, GivesTypedValues) {
  const Arguments arguments = parsed(
      {"analyze", "a.sqlite", "--top", "5", "b.csv", "--json", "--out=x y", "--stage", "decode"});
  EXPECT_EQ(arguments.all("PATH"), (Line{"a.sqlite", "b.csv"}));
  EXPECT_EQ(arguments.number("--top"), 5);
  EXPECT_EQ(arguments.text("--out"), "x y");
  EXPECT_EQ(arguments.text("--stage"), "decode");
  EXPECT_TRUE(arguments.flag("--json"));
  EXPECT_FALSE(arguments.flag("--force"));
  EXPECT_EQ(arguments.number("--batch"), std::nullopt);
  EXPECT_EQ(arguments.text("--gpu"), std::nullopt);
}

TEST(Parse, RefusesQuestionsThatTheTableDoesNotAnswer) {
  const Arguments arguments = parsed({"analyze", "a"});
  EXPECT_THROW((void)arguments.flag("--jsn"), std::logic_error);
  EXPECT_THROW((void)arguments.flag("--out"), std::logic_error);
  EXPECT_THROW((void)arguments.text("--json"), std::logic_error);
  EXPECT_THROW((void)arguments.number("--out"), std::logic_error);
  EXPECT_THROW((void)arguments.all("--out"), std::logic_error);
}

TEST(Parse, LeavesAnotherProgramsWordsAlone) {
  const Arguments arguments =
      parsed({"run", "a=b", "~c", "--force", "--", "prog", "--out", "--", "--nonsense"});
  EXPECT_EQ(arguments.all("OVERRIDE"), (Line{"a=b", "~c"}));
  EXPECT_EQ(arguments.program(), (Line{"prog", "--out", "--", "--nonsense"}));
  EXPECT_TRUE(arguments.flag("--force"));
  EXPECT_EQ(complaint({"doctor", "--", "prog"}),
            "doctor does not run a program; remove `--` and what follows");
}

TEST(Parse, TakesFilesCalledLikeOptionsBehindTwoDashes) {
  const Arguments arguments = parsed({"analyze", "--json", "a", "--", "-f", "--out"});
  EXPECT_EQ(arguments.all("PATH"), (Line{"a", "-f", "--out"}));
  EXPECT_TRUE(arguments.flag("--json"));
  EXPECT_FALSE(arguments.text("--out"));
}

TEST(Parse, TakesCommonOptionsBeforeAndBehindTheCommand) {
  EXPECT_EQ(parse_line(Line{"--color", "never", "doctor"}).color, ColorWhen::never);
  EXPECT_EQ(parse_line(Line{"doctor", "--color=always"}).color, ColorWhen::always);
  EXPECT_EQ(parse_line(Line{"doctor"}).color, ColorWhen::automatic);
  EXPECT_TRUE(parse_line(Line{"-h"}).help);
  EXPECT_TRUE(parse_line(Line{"analyze", "--help"}).help);  // without its PATH
  EXPECT_TRUE(parse_line(Line{"--version"}).version);
}

TEST(Parse, NamesWhatWasMeant) {
  EXPECT_EQ(complaint({"analyse"}), "unknown command 'analyse'; did you mean 'analyze'?");
  EXPECT_EQ(complaint({"docter", "--json"}), "unknown command 'docter'; did you mean 'doctor'?");
  EXPECT_EQ(complaint({"analyze", "x", "--promt-tokens", "3"}),
            "unknown option '--promt-tokens' of analyze; did you mean '--prompt-tokens'? see "
            "`llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--jsno=1"}),
            "unknown option '--jsno' of analyze; did you mean '--json'? see `llmprof analyze "
            "--help`");
  EXPECT_EQ(complaint({"analyze", "x", "-q"}),
            "unknown option '-q' of analyze; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"--colour", "never", "run"}),
            "unknown option '--colour'; did you mean '--color'? see `llmprof --help`");
  EXPECT_EQ(complaint({"run", "--color", "allways"}),
            "--color: unknown value 'allways'; available: auto, always, never; did you mean "
            "'always'?");
  EXPECT_TRUE(complaint({"serve-my-model"})
                  .starts_with("unknown command 'serve-my-model'; "
                               "available: run, analyze, merge, report,"));
}

TEST(Parse, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(complaint({}), "a command is missing; see `llmprof --help`");
  EXPECT_EQ(complaint({"analyze"}), "analyze: PATH is missing; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--out"}),
            "--out needs a value: --out DIR; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--out", "--json"}),
            "--out needs a value: --out DIR; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "--out=", "x"}),
            "--out needs a value: --out DIR; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--json=1"}),
            "--json takes no value; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--out", "a", "--out", "b"}),
            "--out is given 2 times; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"artifacts", "a", "b"}),
            "artifacts: unexpected argument 'b'; see `llmprof artifacts --help`");
}

TEST(Parse, ChecksNumbers) {
  EXPECT_EQ(complaint({"analyze", "x", "--top", "0"}),
            "--top: '0' is not a whole number of at least 1; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"analyze", "x", "--top", "1.5"}),
            "--top: '1.5' is not a whole number of at least 1; see `llmprof analyze --help`");
  EXPECT_EQ(complaint({"arm", "99999999999"}),
            "PID: '99999999999' is larger than 2147483647; see `llmprof arm --help`");
  EXPECT_EQ(parsed({"analyze", "x", "--device", "0"}).number("--device"), 0);
}

}  // namespace
}  // namespace llmprof::cli
