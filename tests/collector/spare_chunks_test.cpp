#include "collector/chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace llmprof::collector {
namespace {

constexpr size_t kMaxChunks = 4'096;
std::array<unsigned char, kMaxChunks> memory = {};

MappedChunk chunk_number(uint64_t sequence) { return {&memory.at(sequence), sequence}; }

TEST(SpareChunks, AreTakenInTheOrderTheyWereAdded) {
  SpareChunks spares;
  MappedChunk taken;
  EXPECT_TRUE(spares.empty());
  EXPECT_FALSE(spares.take(taken));
  for (uint64_t i = 10; i < 14; ++i) {
    EXPECT_TRUE(spares.wants_more());
    spares.add(chunk_number(i));
  }
  EXPECT_FALSE(spares.wants_more());
  for (uint64_t i = 10; i < 14; ++i) {
    EXPECT_FALSE(spares.empty());
    ASSERT_TRUE(spares.take(taken));
    EXPECT_EQ(taken.sequence, i);
    EXPECT_EQ(taken.begin, &memory.at(i));
  }
  EXPECT_FALSE(spares.take(taken));
}

// Two threads with the same chunk would overwrite each other; using a chunk that was cut off the
// file would end the program.
TEST(SpareChunks, EachIsTakenOnceByConcurrentThreads) {
  constexpr uint64_t kChunks = 2'000;
  constexpr size_t kThreads = 4;
  SpareChunks spares;
  std::atomic<bool> all_added = false;
  std::array<std::vector<uint64_t>, kThreads> taken;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::vector<uint64_t>& own : taken) {
    threads.emplace_back([&] {
      MappedChunk chunk;
      while (true) {
        const bool last_look = all_added.load();
        if (spares.take(chunk)) {
          EXPECT_EQ(chunk.begin, &memory.at(chunk.sequence));
          own.push_back(chunk.sequence);
        } else if (last_look) {
          return;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (uint64_t next = 0; next < kChunks;) {
    if (spares.wants_more()) {
      spares.add(chunk_number(next++));
    } else {
      std::this_thread::yield();
    }
  }
  all_added.store(true);
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> together;
  for (const std::vector<uint64_t>& own : taken) {
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    together.insert(together.end(), own.begin(), own.end());
  }
  std::sort(together.begin(), together.end());
  ASSERT_EQ(together.size(), kChunks);
  for (uint64_t i = 0; i < kChunks; ++i) ASSERT_EQ(together[i], i);
}

}  // namespace
}  // namespace llmprof::collector
