#include "analysis/stages/step_batch.h"

#include <gtest/gtest.h>

#include "analysis/stages/stage_rules.h"

namespace llmprof::analysis {
namespace {

RangeMeaning read_label(std::string_view label) {
  auto conf = config::ConfFiles::open(std::nullopt);
  auto rules = StageRules::load(*conf);
  EXPECT_TRUE(rules) << rules.error().message;
  return rules->meaning("", label);
}

struct Label {
  const char* text;
  StepKind kind;
  llm::SequenceSums prefill;
  llm::SequenceSums decode;
};

TEST(StepBatch, SumsOfEnginesAnnotations) {
  using enum StepKind;
  for (const Label& label : std::vector<Label>{
           // vLLM: a prompt of 512 after 388 cached tokens, and 30 sequences of 300.
           {"execute_542_context_1(sq512sk900sqsq262144sqsk460800)_generation_30(sq30sk9000sqsq30"
            "sqsk9000)",
            mixed,
            {1, 512, 900, 262144, 460800},
            {30, 30, 9000, 30, 9000}},
           {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
            decode,
            {},
            {32, 32, 55086, 32, 55086}},
           // Four draft tokens in each of 32 sequences.
           {"execute_128_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq128sk65536sqsq512sqsk262144)",
            decode,
            {},
            {32, 128, 65536, 512, 262144}},
           // SGLang: 8 new tokens after 2, and 4 after 6; toks is the sum of new tokens.
           {"step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]",
            prefill,
            {2, 12, 20, 80, 120},
            {}},
           {"step[DECODE bs=2 g_sqsq=2 g_sqsk=30 g_sk=30]", decode, {}, {2, 2, 30, 2, 30}},
           {"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
            decode,
            {},
            {64, 128, 131072, 256, 262144}},
           {"step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 "
            "g_sqsk=12]",
            mixed,
            {1, 5, 8, 25, 40},
            {1, 1, 12, 1, 12}},
           // Named mixed, but nothing is in decode.
           {"step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 c_sqsq=9 c_sqsk=9 g_sq=0 g_sk=0 g_sqsq=0 "
            "g_sqsk=0]",
            prefill,
            {1, 3, 3, 9, 9},
            {}},
           // ATOM: lengths of each sequence; all tokens are new, or there is a single sequence.
           {"prefill[bs=3 tok=16384 ctx=[8063, 7153, 1168]]",
            prefill,
            {3, 16384, 16384, 117541602, 117541602},
            {}},
           {"prefill[bs=1 tok=512 ctx=900]", prefill, {1, 512, 900, 262144, 460800}, {}},
           {"eager_decode[bs=2 tok=2 ctx=[900, 800]]", decode, {}, {2, 2, 1700, 2, 1700}},
           {"prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3 sqsq=59768832 sqsk=59768832 "
            "sk=17408 tbo=1]",
            prefill,
            {6, 17408, 17408, 59768832, 59768832},
            {}},
           {"decode[bs=117/128 tok=117 d=117 sqsq=117 sqsk=239616 sk=239616]",
            decode,
            {},
            {117, 117, 239616, 117, 239616}},
       }) {
    const RangeMeaning meaning = read_label(label.text);
    EXPECT_EQ(meaning.kind, RangeMeaning::Kind::engine_step) << label.text;
    EXPECT_EQ(meaning.step_kind, label.kind) << label.text;
    const auto sums = meaning.phases.sums();
    ASSERT_TRUE(sums) << label.text;
    EXPECT_EQ(sums->prefill, label.prefill) << label.text;
    EXPECT_EQ(sums->decode, label.decode) << label.text;
    EXPECT_EQ(meaning.tokens, sums->tokens()) << label.text;
  }
}

TEST(StepBatch, UnsplitSumsOfAMixedStep) {
  const RangeMeaning step = read_label("decode[bs=4 tok=11 p=1 d=3 sqsq=67 sqsk=398 sk=118 tbo=1]");
  EXPECT_EQ(step.step_kind, StepKind::mixed);
  EXPECT_EQ(step.phases.prefill.sequences, 1U);
  EXPECT_EQ(step.phases.decode.sequences, 3U);
  const auto sums = step.phases.sums();
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->prefill, (llm::SequenceSums{4, 11, 118, 67, 398}));
  EXPECT_EQ(sums->tokens(), 11U);
}

// Missing values stay unknown, and impossible ones are ignored.
TEST(StepBatch, SaysNothingThatIsNotSaid) {
  for (const char* label :
       {"execute_context_1(512)_generation_30(30)", "execute_context_1(888_788544)_generation_0(0)",
        "step[DECODE bs=32]", "step[EXTEND bs=2 toks=4096]", "step[MIXED bs=2]",
        "prefill[bs=2 tok=512 ctx=[900, 800]]", "prefill[bs=6 tok=17408 ctx=[4096, 4096]...+4]",
        "[Executor] _forward_step 13: 0 ctx reqs, 45 gen reqs",
        "step[DECODE bs=2 g_sqsq=2 g_sqsk=30 g_sk=1]",
        "step[EXTEND bs=2 toks=12 c_sqsq=8 c_sqsk=120 c_sk=20]"}) {
    const RangeMeaning meaning = read_label(label);
    EXPECT_EQ(meaning.kind, RangeMeaning::Kind::engine_step) << label;
    EXPECT_FALSE(meaning.phases.sums()) << label;
  }
  // Draft tokens: more than one per sequence, in unknown number.
  const RangeMeaning verify = read_label("step[TARGET_VERIFY bs=4]");
  EXPECT_EQ(verify.step_kind, StepKind::decode);
  EXPECT_EQ(verify.batch, 4U);
  EXPECT_FALSE(verify.tokens);
  EXPECT_EQ(read_label("step[VERIFY bs=4]").step_kind, StepKind::decode);
  EXPECT_EQ(read_label("decode[bs=32 tok=128 d=32 spec=3]").tokens, 128U);
  EXPECT_EQ(read_label("draft[1/3 bs=32]").kind, RangeMeaning::Kind::none);
  EXPECT_EQ(read_label("step[DRAFT_EXTEND bs=32]").kind, RangeMeaning::Kind::none);
}

TEST(StepBatch, PhasesWithoutSums) {
  const RangeMeaning mixed = read_label("execute_context_2(6144)_generation_3(3)");
  EXPECT_EQ(mixed.phases.prefill.sequences, 2U);
  EXPECT_EQ(mixed.phases.prefill.tokens, 6144U);
  EXPECT_EQ(mixed.phases.decode.sequences, 3U);
  EXPECT_EQ(mixed.phases.decode.tokens, 3U);
  const RangeMeaning decode = read_label("step[DECODE bs=32]");
  EXPECT_EQ(decode.phases.prefill.sequences, 0U);
  EXPECT_EQ(decode.phases.decode.sequences, 32U);
  EXPECT_EQ(decode.phases.decode.tokens, 32U);
  EXPECT_FALSE(decode.phases.decode.keys);
  const RangeMeaning rank = read_label("[Executor] _forward_step 12: 3 ctx reqs, 45 gen reqs");
  EXPECT_EQ(rank.phases.prefill.sequences, 3U);
  EXPECT_FALSE(rank.phases.prefill.tokens);
  EXPECT_FALSE(rank.tokens);
}

}  // namespace
}  // namespace llmprof::analysis
