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

enum class Table : uint8_t { none, round };
constexpr auto words_of(Table /*of*/) { return vocabulary<Table>({{Table::none, "", ""}}); }
constexpr auto kTables = other_texts<Table>({{Table::none, "standing"}});
enum class Seat : uint8_t { chair, bench };

TEST(Vocabulary, SpellsValuesAsCppUnlessItSaysOtherwise) {
  EXPECT_EQ(to_string(Seat::bench), "bench");
  EXPECT_EQ(find_word<Seat>("chair"), Seat::chair);
  EXPECT_EQ(to_string(Table::none), "");
  EXPECT_EQ(find_word<Table>(""), Table::none);
  EXPECT_EQ(to_string(Table::round), "round");
  EXPECT_EQ(kTables[Table::none], "standing");
  EXPECT_EQ(kTables[Table::round], "round");
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
