#include "profile/finding_kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace llmprof::profile {
namespace {

// The names are a contract of profile.json: renaming one breaks scripts.
TEST(FindingKinds, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (const auto& kind : kWords<FindingKind>) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(std::all_of(kind.name.begin(), kind.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << kind.name;
    EXPECT_FALSE(kind.meaning.empty()) << kind.name;
    EXPECT_EQ(find_word<FindingKind>(kind.name), kind.value);
    EXPECT_EQ(to_string(kind.value), kind.name);
  }
  EXPECT_EQ(to_string(FindingKind::launch_bound), "launch_bound");
  EXPECT_EQ(find_word<FindingKind>("of_another_version"), std::nullopt);
}

}  // namespace
}  // namespace llmprof::profile
