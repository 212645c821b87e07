#include "profile/reasons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "profile/reasons.h"

namespace llmprof::profile {
namespace {

// The names are a contract of profile.json: renaming one breaks scripts.
TEST(ReasonKinds, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (const auto& kind : kWords<ReasonKind>) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(std::all_of(kind.name.begin(), kind.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << kind.name;
    EXPECT_EQ(find_word<ReasonKind>(kind.name), kind.value);
    EXPECT_EQ(to_string(kind.value), kind.name);
  }
  EXPECT_EQ(to_string(ReasonKind::no_model), "no_model");
  EXPECT_EQ(find_word<ReasonKind>("of_another_version"), std::nullopt);
}

TEST(Reasons, HoldTheirKindByName) {
  FindingValues values;
  values.add("gpu", "NVIDIA H999");
  const Reason reason = make_reason(ReasonKind::gpu_unknown, values);
  EXPECT_EQ(reason.kind, profile::ReasonKind::gpu_unknown);
  EXPECT_EQ(find_text(reason.values, "gpu"), "NVIDIA H999");
}

}  // namespace
}  // namespace llmprof::profile
