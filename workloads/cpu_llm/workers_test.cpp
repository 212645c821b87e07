#include "cpu_llm/workers.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cpu_llm {
namespace {

TEST(Workers, ComputeEveryChunkOnce) {
  constexpr size_t kRounds = 2000;
  for (const size_t threads : {1U, 2U, 4U}) {
    Workers workers(threads);
    ASSERT_EQ(workers.count(), threads);
    for (size_t round = 0; round < kRounds; ++round) {
      std::vector<int> computed(round % 37);
      workers.share(computed.size(), [&](size_t chunk, size_t) { ++computed[chunk]; });
      ASSERT_EQ(computed, std::vector<int>(round % 37, 1));
    }
  }
}

TEST(Workers, GiveEachThreadANumberOfItsOwn) {
  Workers workers(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> clashes = 0;
  for (int round = 0; round < 200; ++round) {
    workers.share(50, [&](size_t, size_t worker) {
      if (busy.at(worker).fetch_add(1) != 0) ++clashes;
      busy[worker].fetch_sub(1);
    });
  }
  EXPECT_EQ(clashes, 0);
}

TEST(Workers, CutARangeIntoPieces) {
  Workers workers(3);
  for (const size_t size : {0U, 1U, 9U, 10U, 11U, 95U}) {
    std::vector<size_t> values(size);
    workers.share_range(size, 10, [&](size_t begin, size_t end, size_t) {
      EXPECT_LE(end - begin, 10U);
      for (size_t i = begin; i < end; ++i) values[i] += i;
    });
    std::vector<size_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(values, expected);
  }
}

// Long enough apart that the threads fall asleep.
TEST(Workers, WakeUpAgain) {
  Workers workers(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> computed = 0;
    workers.share(8, [&](size_t, size_t) { ++computed; });
    EXPECT_EQ(computed, 8);
  }
}

}  // namespace
}  // namespace cpu_llm
