#include "session/bundle/records.h"

#include <gtest/gtest.h>

#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

RunInputs read_inputs(const testing::TemporaryFolder& folder, Diagnostics& diagnostics) {
  const auto conf = config::ConfFiles::open(std::nullopt);
  EXPECT_TRUE(conf);
  return read_run_inputs(folder.path(), *conf, diagnostics);
}

TEST(RunInputs, TheModelIsTheConfigurationThatWasWrittenDown) {
  const auto conf = config::ConfFiles::open(std::nullopt);
  ASSERT_TRUE(conf);
  Diagnostics diagnostics;
  const RunInputs inputs = read_run_inputs(testing::test_data("cpu-llm"), *conf, diagnostics);
  ASSERT_TRUE(inputs.model);
  EXPECT_EQ(inputs.model->name, "cpu_llm");
  EXPECT_EQ(inputs.model->hidden, 1536U);
  EXPECT_EQ(inputs.model->layers.size(), 3U);
  EXPECT_EQ(inputs.model->weights.name, "f32");
  EXPECT_EQ(inputs.command, "cpu_llm --layers 3 --hidden 1536");
  EXPECT_EQ(inputs.prompt_tokens, 64U);
  EXPECT_EQ(inputs.new_tokens, 8U);
  EXPECT_EQ(inputs.batch, 1U);
  EXPECT_TRUE(diagnostics.items().empty());
}

TEST(RunInputs, ATargetAloneIsLookedUp) {
  const testing::TemporaryFolder folder;
  folder.write("inputs.yaml", "model: {target: llm/qwen2_7b}\nworkload: {prompt_tokens: 0}\n");
  Diagnostics diagnostics;
  const RunInputs inputs = read_inputs(folder, diagnostics);
  ASSERT_TRUE(inputs.model);
  EXPECT_EQ(inputs.model->name, "Qwen/Qwen2-7B");
  EXPECT_FALSE(inputs.prompt_tokens);
}

TEST(RunInputs, WhatCannotBeUsedIsSaid) {
  const testing::TemporaryFolder gone;
  gone.write("inputs.yaml", "model: {target: /no/such/model}\nworkload: {batch: 4}\n");
  Diagnostics diagnostics;
  const RunInputs inputs = read_inputs(gone, diagnostics);
  EXPECT_FALSE(inputs.model);
  EXPECT_EQ(inputs.batch, 4U);
  EXPECT_TRUE(diagnostics.has("model_of_run_unusable"));

  const testing::TemporaryFolder broken;
  broken.write("inputs.yaml", "model: [\n");
  read_inputs(broken, diagnostics);
  EXPECT_TRUE(diagnostics.has("run_inputs_unreadable"));

  const testing::TemporaryFolder empty;
  Diagnostics none;
  EXPECT_FALSE(read_inputs(empty, none).model);
  EXPECT_TRUE(none.items().empty());
}

}  // namespace
}  // namespace llmprof::session
