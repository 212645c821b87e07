#include "profile/vocabulary.h"

#include <gtest/gtest.h>

namespace llmprof::profile {
namespace {

enum class Meal : uint8_t { lunch, dinner };
constexpr auto words_of(Meal /*of*/) { return vocabulary<Meal>({{Meal::lunch, "at noon"}}); }
constexpr auto kDishes = texts<Meal>({{Meal::lunch, "soup"}, {Meal::dinner, "bread"}});

TEST(Vocabulary, SpellsItsValues) {
  EXPECT_EQ(to_string(Meal::dinner), "dinner");
  EXPECT_EQ(find_word<Meal>("lunch"), Meal::lunch);
  EXPECT_EQ(find_word<Meal>("breakfast"), std::nullopt);
  EXPECT_EQ(kDishes[Meal::dinner], "bread");
}

TEST(Vocabulary, KeepsTheNamesOfAFile) {
  EXPECT_EQ(read_word<Meal>("dinner"), Meal::dinner);
  const Meal supper = *read_word<Meal>("supper");
  EXPECT_FALSE(is_known(supper));
  EXPECT_EQ(read_word<Meal>("supper"), supper);
  EXPECT_NE(*read_word<Meal>("tea"), supper);
  EXPECT_EQ(to_string(supper), "supper");
  EXPECT_EQ(kDishes[supper], "supper");
}

TEST(Vocabulary, KnowsItsEnumerators) {
  static_assert(is_enumerator<Meal::dinner>());
  static_assert(!is_enumerator<static_cast<Meal>(2)>());
}

}  // namespace
}  // namespace llmprof::profile
