#include "analysis/engine/engine_rules.h"

#include <gtest/gtest.h>

#include "testing/engine_folder.h"

namespace llmprof::analysis {
namespace {

using Texts = std::set<std::string>;

TEST(EngineRules, ListsOfTheUsersEngineJoinThoseThatShip) {
  const EngineRules shipped = EngineRules::load(config::ConfFiles::open({}).value()).value();
  const EngineRules rules = testing::EngineFolder().engines();
  for (const auto& [list, own] : {std::pair{&EngineRule::rank_titles, "acme::"},
                                  std::pair{&EngineRule::rank_variables, "ACME_RANK"},
                                  std::pair{&EngineRule::recorded_variables, "ACME_BACKEND"}}) {
    Texts expected = shipped.all(list);
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(expected.insert(own).second);
    EXPECT_EQ(rules.all(list), expected);
  }
}

TEST(EngineRules, RecordNoSecrets) {
  for (const std::string_view key : {"rank_variables", "recorded_variables"}) {
    const testing::EngineFolder folder(std::string(key) + ": [ACME_MODE, ACME_PASSWORD]\n");
    const auto rules = folder.load();
    ASSERT_FALSE(rules);
    EXPECT_NE(rules.error().message.find("must not name secrets: ACME_PASSWORD"), std::string::npos)
        << rules.error().message;
  }
}

TEST(EngineRules, OfMemoryAreChecked) {
  for (const auto& [text, said] : {
           std::pair{"allocated_by: [{frame: load, means: heights}]", "'means' must be one of"},
           std::pair{"allocated_by: [{means: weights}]", "either 'frame' or 'bytes'"},
           std::pair{"allocated_by: [{bytes: 512, means: weights}]", "size of a workspace"},
           std::pair{"allocated_by: {frame: load}", "must be a list"},
           std::pair{"memory_lines: [{regex: '(', part: weights}]", "not a regular expression"},
           std::pair{"memory_lines: [{regex: '\\d+', part: weights}]", "needs a group"},
           std::pair{"memory_lines: [{regex: '(?P<bytes>1)', part: weights}]", "'unit' must be"},
           std::pair{"memory_lines: [{regex: '(?P<tokens>1)', part: all}]", "'part' must be"},
       }) {
    const auto rules = testing::EngineFolder(text).load();
    ASSERT_FALSE(rules) << text;
    EXPECT_NE(rules.error().message.find(said), std::string::npos) << rules.error().message;
  }
  const auto good = testing::EngineFolder(
                        "allocated_by: [{frame: '^load', means: weights}]\n"
                        "memory_lines: [{regex: '(?P<bytes>1)', part: graphs, unit: MiB}]\n")
                        .load();
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace llmprof::analysis
