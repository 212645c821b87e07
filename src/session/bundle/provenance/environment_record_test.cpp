#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "session/bundle/provenance/provenance.h"
#include "testing/engine_folder.h"

namespace llmprof::session {
namespace {

TEST(EnvironmentRecord, OnlyVariablesOnTheListAreRecorded) {
  const auto conf = config::ConfFiles::open(std::nullopt).value();
  const auto engines = analysis::EngineRules::load(conf).value();
  for (const std::string_view name : recorded_variables(engines)) {
    for (const std::string_view secret : {"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL"}) {
      if (name == "TOKENIZERS_PARALLELISM") continue;
      EXPECT_EQ(name.find(secret), std::string_view::npos) << name;
    }
  }
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "3", 1), 0);
  ASSERT_EQ(setenv("LLMPROF_TEST_SECRET", "hunter2", 1), 0);
  const std::string record = environment_record(engines);
  EXPECT_EQ(record.find("hunter2"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(record)["environment"]["OMP_NUM_THREADS"], "3");
}

TEST(EnvironmentRecord, EnginesNameMoreVariables) {
  const testing::EngineFolder folder;
  ASSERT_EQ(setenv("ACME_BACKEND", "fast", 1), 0);
  const auto with = nlohmann::json::parse(environment_record(folder.engines()));
  EXPECT_EQ(with["environment"]["ACME_BACKEND"], "fast");
  const auto without = nlohmann::json::parse(environment_record({}));
  EXPECT_FALSE(without["environment"].contains("ACME_BACKEND"));
}

TEST(EnvironmentRecord, ThisMachineHasACpuMemoryAndAnOperatingSystem) {
  const auto record = nlohmann::json::parse(environment_record({}));
  EXPECT_GT(record["cpu"]["count"], 0U);
  EXPECT_GT(record["cpu"]["memory_bytes"], uint64_t{1} << 28U);
  EXPECT_NE(record["kernel"].get<std::string>().find("Linux"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::session
