#include "report/documents/documents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/sections/sections.h"
#include "report/writers/writers.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using profile::Milliseconds;
using testing::shown;

const Headline* find(const std::vector<Headline>& lines, std::string_view name) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const Headline& line) { return line.name == name; });
  return found == lines.end() ? nullptr : &*found;
}

// Two decodes of 3 ms per token, traced.
profile::Profile traced() {
  profile::Profile profile;
  profile::Stage& decode = profile.stages.emplace_back();
  decode.name = "decode";
  decode.wall = testing::times({30, 30});
  profile.token_times.time_per_output_token = testing::times({3, 3});
  profile.token_times.tokens_per_s = profile::TokensPerSecond{1000.0 / 3};
  profile.workload.batch_source = "--batch";
  return profile;
}

profile::UntracedTimes untraced(std::string_view source) {
  profile::UntracedTimes own;
  own.source = *profile::find_word<profile::UntracedSource>(source);
  own.wall = {24};
  own.per_step = Milliseconds{2.4};
  own.added_share = {0.25};
  return own;
}

TEST(Headlines, OfATracedRunSaySo) {
  const std::vector<Headline> lines = headlines(shown(traced()));
  EXPECT_EQ(find(lines, "time per output token")->text, "3.000");
  EXPECT_EQ(find(lines, "time per output token")->of, "mean of 2 decodes, traced");
  EXPECT_EQ(find(lines, "output rate")->of, "of all sequences, traced");
  EXPECT_FALSE(find(lines, "output rate")->beside);
}

TEST(Headlines, OfATracedRunHaveTheUnprofiledTimeBesideThem) {
  profile::Profile profile = traced();
  profile::Stage1Stage& step = profile.stage1.emplace().stages.emplace_back();
  step.name = "decode_step";
  step.mean = Milliseconds{2.5};
  const Headline token = *find(headlines(shown(profile)), "time per output token");
  EXPECT_EQ(token.beside->words, "not profiled");
  EXPECT_EQ(token.beside->text, "2.500 ms");
}

TEST(Headlines, OfTheProgramWithoutTracingHaveTheTracedTimeBesideThem) {
  profile::Profile profile = traced();
  profile.stages[0].untraced = untraced("workload_clock");
  const Headline token = *find(headlines(shown(profile)), "time per output token");
  EXPECT_EQ(token.text, "2.400");
  EXPECT_EQ(token.of, "mean of 2 decodes, without tracing");
  EXPECT_EQ(token.beside->words, "traced");
  EXPECT_EQ(token.beside->text, "3.000 ms");
}

// Parts of decodes in tracing windows: 0.8 and 15.2 ms are not durations of complete decodes.
TEST(Headlines, OfWindowsAreThoseOfTheProgram) {
  profile::Profile profile = traced();
  profile.token_times.time_per_output_token = testing::times({0.8, 15.2});
  profile.token_times.tokens_per_s = profile::TokensPerSecond{125};
  profile.stages[0].untraced = untraced("between_windows");
  const std::vector<Headline> lines = headlines(shown(profile));
  EXPECT_EQ(find(lines, "time per output token")->text, "2.400");
  EXPECT_FALSE(find(lines, "time per output token")->beside);
  EXPECT_EQ(find(lines, "output rate")->text, "416.7");
  EXPECT_FALSE(find(lines, "output rate")->beside);
}

profile::Profile server() {
  profile::Profile profile = traced();
  profile.stages_found.serving = true;
  for (const auto& [tokens, token] : {std::pair{329, 1.642}, std::pair{3008, 6.747}}) {
    profile::ServedWindow& window = profile.token_times.served.emplace_back();
    window.tokens = static_cast<uint64_t>(tokens);
    window.token = Milliseconds{token};
    window.prompts = 64;
    window.prompt = Milliseconds{29.811};
    window.sequences_max = 8;
    window.span = {4000};
  }
  return profile;
}

TEST(Headlines, OfAServerAreWhatRequestsSaw) {
  const std::vector<Headline> lines = headlines(shown(server()));
  EXPECT_EQ(find(lines, "time to first token")->text, "29.811");
  EXPECT_EQ(find(lines, "time to first token")->of,
            "mean of 64 prompts, queueing excluded, traced");
  EXPECT_EQ(find(lines, "time per output token")->text, "6.747");
  EXPECT_EQ(find(lines, "time per output token")->of,
            "mean of 3,008 tokens, up to 8 sequences; 1.642 ms in another window, traced");
  EXPECT_EQ(find(lines, "output rate")->text, "148.2");
  EXPECT_EQ(find(lines, "output rate")->of, "per sequence, traced");
  // 3,008 tokens plus 64 first tokens in 4 s.
  EXPECT_EQ(find(lines, "output rate")->beside->text, "768.0 tokens/s");
}

// Neither are rates derived from engine steps.
TEST(Headlines, OfAServerAgreeWithItsTables) {
  const auto holds = [](const profile::Profile& profile, std::string_view row) {
    Document document = stakeholder_document(profile);
    add_section(profile::Topic<"token times">(), profile, document);
    return to_markdown(document).find(row) != std::string::npos;
  };
  profile::Profile profile = server();
  for (const std::string_view row :
       {"| engine step of decode, mean ± std (ms) | 3.000 ± 0.000 |",
        "| tokens per second per sequence | 148.2 |",
        "| tokens per second, all sequences | 768.0 |", "| engine step of decode | 2 |",
        "a sequence gets 148.2 tokens per second, and all sequences together get 768.0."}) {
    EXPECT_TRUE(holds(shown(profile), row)) << row;
  }
  EXPECT_FALSE(holds(shown(profile), "output token (") ||
               holds(shown(profile), "time per output token,"));
  profile.token_times.served.clear();
  EXPECT_FALSE(holds(shown(profile), "tokens per second"));
}

// An engine step is not the time of a token: a batch may take several.
TEST(Headlines, OfAServerWhoseRequestsAreNotKnownAreItsSteps) {
  profile::Profile profile = server();
  profile.token_times.served.clear();
  const std::vector<Headline> lines = headlines(shown(profile));
  EXPECT_EQ(find(lines, "time per output token"), nullptr);
  EXPECT_EQ(find(lines, "output rate"), nullptr);
  EXPECT_EQ(find(lines, "engine step of decode")->text, "3.000");
  EXPECT_EQ(find(lines, "engine step of decode")->of, "mean of 2 engine steps, traced");
}

}  // namespace
}  // namespace llmprof::report
