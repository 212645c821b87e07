#include <gtest/gtest.h>

#include <algorithm>

#include "llm/cost.h"
#include "llm/model_spec.h"
#include "session/options/run_options.h"

namespace llmprof::session {
namespace {

constexpr size_t kMegabyte = 1'000'000;

RunOptions options_with(std::optional<size_t> cache, const std::vector<std::string>& overrides = {},
                        size_t memory = size_t{1} << 40U) {
  const auto conf = config::ConfFiles::open(std::nullopt);
  config::ComposeContext context;
  context.bin = "/bin";
  context.last_level_cache_bytes = cache;
  context.memory_bytes = memory;
  return read_run_options(compose_run(*conf, overrides, {}, context), {});
}

std::string layers_of(const RunOptions& options) {
  const auto& argv = options.workload.argv;
  const auto flag = std::find(argv.begin(), argv.end(), "--layers");
  return flag == argv.end() ? "" : *(flag + 1);
}

// Computed by hand: a layer has 25.171968 MB, the rest of the model 50.33472 MB. cpu_llm computes
// the same (workloads/cpu_llm/default_layers_test.cpp).
TEST(OutgrowCache, TheDefaultModelIsFourTimesTheCache) {
  struct Machine {
    size_t cache_mb;
    uint64_t layers;
  };
  for (const Machine& machine :
       {Machine{32, 8}, Machine{62, 8}, Machine{114, 17}, Machine{256, 39}, Machine{1000, 157}}) {
    const RunOptions made = options_with(machine.cache_mb * kMegabyte);
    EXPECT_EQ(layers_of(made), std::to_string(machine.layers));
    // All descriptions of the model agree.
    const uint64_t parameters = 12'583'680 + machine.layers * 6'292'992;
    EXPECT_EQ(made.model.params, parameters);
    EXPECT_GE(4 * parameters, 4 * machine.cache_mb * kMegabyte);
    const auto spec = llm::parse_hugging_face_config(made.model.config_json, "");
    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->layers.size(), machine.layers);
    EXPECT_EQ(llm::parameter_count(*spec), parameters);
  }
}

TEST(OutgrowCache, LeavesHalfOfTheMemory) {
  EXPECT_EQ(layers_of(options_with(1000 * kMegabyte, {}, 2000 * kMegabyte)), "37");
}

TEST(OutgrowCache, WhatTheUserSaysHolds) {
  EXPECT_EQ(layers_of(options_with(256 * kMegabyte, {"model.config.num_hidden_layers=3"})), "3");
  EXPECT_EQ(layers_of(options_with(256 * kMegabyte, {"model.config.hidden_size=96"})), "8");
  EXPECT_EQ(layers_of(options_with(256 * kMegabyte, {"model.outgrow_cache=false"})), "8");
  EXPECT_EQ(layers_of(options_with(std::nullopt)), "8");
}

TEST(OutgrowCache, AModelThatWasChangedIsCountedAnew) {
  const RunOptions made = options_with(std::nullopt, {"model.config.num_hidden_layers=2"});
  EXPECT_EQ(made.model.params, 12'583'680U + 2 * 6'292'992);
}

}  // namespace
}  // namespace llmprof::session
