#include "session/bundle/provenance/provenance.h"

#include <gtest/gtest.h>

#include "config/compose.h"

namespace llmprof::session {
namespace {

std::string recorded(std::string_view yaml) {
  const auto document = config::parse_yaml(yaml, "test");
  EXPECT_TRUE(document) << document.error().message;
  return config::to_yaml(without_secrets(document->root));
}

void expect_recorded(std::string_view yaml, std::string_view as) {
  const auto document = config::parse_yaml(as, "test");
  EXPECT_EQ(recorded(yaml), config::to_yaml(document->root));
}

TEST(RecordedTree, HidesWhatKeysNameASecret) {
  expect_recorded(
      "workload: {environment: {HF_TOKEN: hf_x, N: 1}, api_key: x, credentials: {user: x}}",
      "workload: {environment: {HF_TOKEN: '***', N: 1}, api_key: '***', "
      "credentials: {user: '***'}}");
}

TEST(RecordedTree, HidesWhatCommandsHold) {
  expect_recorded(
      "command: [serve, --api-key, x, [--hf-token, y], [--port, 80], 'sh -c \"TOKEN=z run\"']",
      "command: [serve, --api-key, '***', [--hf-token, '***'], [--port, 80], 'sh -c \"TOKEN=*** "
      "run\"']");
}

TEST(RecordedTree, LeavesModelsAsTheyAre) {
  const std::string_view model =
      "config: {num_key_value_heads: 4, eos_token_id: [1, 2], vocab_size: 10, act: silu, "
      "rope: null, tie: false}\nprompt_tokens: 64\nkeys: null";
  expect_recorded(model, model);
}

}  // namespace
}  // namespace llmprof::session
