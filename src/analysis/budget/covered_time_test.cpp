#include "analysis/budget/budget_basis.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace llmprof::analysis {
namespace {

constexpr size_t kSpan = 400;
using Instants = std::bitset<kSpan>;

struct Drawn {
  CoveredTime covered;
  Instants instants;
};

Drawn draw(std::mt19937& random, size_t count) {
  Drawn drawn;
  Nanoseconds start = 0;
  for (size_t i = 0; i < count; ++i) {
    start += static_cast<Nanoseconds>(random() % 9);
    const auto end = start + static_cast<Nanoseconds>(random() % 7);
    if (end >= static_cast<Nanoseconds>(kSpan)) break;
    drawn.covered.add(start, end);
    for (Nanoseconds t = start; t < end; ++t) drawn.instants.set(static_cast<size_t>(t));
  }
  return drawn;
}

Nanoseconds counted(const Instants& instants, size_t from, size_t to) {
  Nanoseconds count = 0;
  for (size_t t = from; t < to; ++t) count += instants[t] ? 1 : 0;
  return count;
}

// Compared with counting instants one by one, for questions that jump back and forth.
TEST(CoveredTime, AgreesWithCountingInstants) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Drawn drawn = draw(random, random() % 60);
    size_t place = 0;
    for (int question = 0; question < 50; ++question) {
      const size_t from = random() % kSpan;
      const size_t to = from + random() % (kSpan - from);
      const auto start = static_cast<Nanoseconds>(from);
      const auto end = static_cast<Nanoseconds>(to);
      ASSERT_EQ(drawn.covered.within(start, end, place), counted(drawn.instants, from, to));
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
