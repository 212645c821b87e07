#include "cpu_llm_server/options.h"

#include <gtest/gtest.h>

namespace cpu_llm_server {
namespace {

std::variant<ServerOptions, Ending> read(std::vector<const char*> values) {
  values.insert(values.begin(), "cpu_llm_server");
  return read_options(static_cast<int>(values.size()), values.data());
}

std::string refusal(std::vector<const char*> values) {
  const auto made = read(std::move(values));
  const auto* const ending = std::get_if<Ending>(&made);
  if (ending == nullptr) return {};
  EXPECT_EQ(ending->exit_code, 2);
  return ending->text;
}

TEST(CpuLlmServerOptions, HaveDefaults) {
  const auto made = read({});
  const auto& options = std::get<ServerOptions>(made);
  EXPECT_EQ(options.port, 8000);
  EXPECT_EQ(options.engine.limits.slots, 8U);
  EXPECT_EQ(options.engine.limits.chunk_tokens, 128U);
  EXPECT_GE(options.engine.threads, 1U);
  EXPECT_TRUE(options.journal.empty());
}

TEST(CpuLlmServerOptions, AreRead) {
  const auto made = read({"--port", "0", "--slots", "3", "--threads", "2", "--journal", "a.jsonl",
                          "--fault", "pause=at:1s,for:5ms", "--fault", "evict=at:1s"});
  const auto& options = std::get<ServerOptions>(made);
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.engine.limits.slots, 3U);
  EXPECT_EQ(options.engine.threads, 2U);
  ASSERT_EQ(options.engine.faults.size(), 2U);
  EXPECT_EQ(options.engine.faults[1].kind, FaultKind::evict);
}

TEST(CpuLlmServerOptions, WhatCannotWorkIsRefused) {
  EXPECT_NE(refusal({"--slots", "0"}).find("--slots"), std::string::npos);
  EXPECT_NE(refusal({"--heads", "7"}).find("--heads 7"), std::string::npos);
  EXPECT_NE(refusal({"--heads", "8", "--kv-heads", "3"}).find("--kv-heads 3"), std::string::npos);
  EXPECT_NE(refusal({"--chunk-tokens", "8"}).find("--slots 8"), std::string::npos);
  EXPECT_NE(refusal({"--layers", "1000000"}).find("do not fit"), std::string::npos);
  EXPECT_NE(refusal({"--fault", "x"}).find("unknown kind"), std::string::npos);
  EXPECT_NE(refusal({"--fault", "slow_layer=at:1s,for:1s,layer:3,by:2x"}).find("layer 3"),
            std::string::npos);
}

TEST(CpuLlmServerOptions, HelpNamesThem) {
  const auto made = read({"--help"});
  const auto& ending = std::get<Ending>(made);
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.text.find("--chunk-tokens"), std::string::npos);
}

}  // namespace
}  // namespace cpu_llm_server
