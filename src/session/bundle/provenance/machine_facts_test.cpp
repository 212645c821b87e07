#include "session/bundle/provenance/machine_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace llmprof::session {
namespace {

TEST(MachineFacts, OnlyVariablesOnTheListAreRecorded) {
  for (const std::string_view name : recorded_variables()) {
    for (const std::string_view secret : {"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL"}) {
      if (name == "TOKENIZERS_PARALLELISM") continue;
      EXPECT_EQ(name.find(secret), std::string_view::npos) << name;
    }
  }
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "3", 1), 0);
  ASSERT_EQ(setenv("LLMPROF_TEST_SECRET", "hunter2", 1), 0);
  bool threads = false;
  for (const auto& [name, value] : machine_facts().environment) {
    EXPECT_NE(value, "hunter2") << name;
    threads = threads || (name == "OMP_NUM_THREADS" && value == "3");
  }
  EXPECT_TRUE(threads);
}

TEST(MachineFacts, ThisMachineHasACpuMemoryAndAnOperatingSystem) {
  const MachineFacts facts = machine_facts();
  EXPECT_GT(facts.cpu_count, 0U);
  EXPECT_GT(facts.memory_bytes, uint64_t{1} << 28U);
  EXPECT_NE(facts.kernel.find("Linux"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::session
