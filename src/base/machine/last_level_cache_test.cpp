#include "base/machine/last_level_cache.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

class CacheFolder : public ::testing::Test {
 protected:
  void add(const std::string& cpu, const std::string& index, const std::string& level,
           const std::string& size, const std::string& shared) {
    const fs::path cache = folder.path() / cpu / "cache" / index;
    fs::create_directories(cache);
    const std::string name = cpu + "/cache/" + index + "/";
    folder.write(name + "level", level + "\n");
    folder.write(name + "size", size + "\n");
    folder.write(name + "shared_cpu_list", shared + "\n");
  }
  testing::TemporaryFolder folder;
};

TEST_F(CacheFolder, ASharedCacheCountsOnce) {
  for (const char* cpu : {"cpu0", "cpu1"}) {
    add(cpu, "index0", "1", "64K", cpu);
    add(cpu, "index2", "2", "1024K", cpu);
    add(cpu, "index3", "3", "32768K", "0-1");
  }
  EXPECT_EQ(last_level_cache_bytes(folder.path()), 32U << 20U);
}

TEST_F(CacheFolder, SeveralCachesOfTheLastLevelAddUp) {
  add("cpu0", "index3", "3", "32M", "0-7");
  add("cpu8", "index3", "3", "32M", "8-15");
  add("cpu8", "index2", "2", "1024K", "8");
  EXPECT_EQ(last_level_cache_bytes(folder.path()), 64U << 20U);
}

TEST_F(CacheFolder, NothingIsKnownWithoutFiles) {
  EXPECT_EQ(last_level_cache_bytes(folder.path()), std::nullopt);
  EXPECT_EQ(last_level_cache_bytes(folder.path() / "none"), std::nullopt);
  add("cpu0", "index0", "", "", "0");
  EXPECT_EQ(last_level_cache_bytes(folder.path()), std::nullopt);
}

constexpr size_t kPlenty = size_t{1} << 40U;

// Pieces of 25 bytes beside 50: eight are 250, four times 62.5.
constexpr PiecewiseData kData = {8, 25, 50};

TEST(PiecesBeyondCache, AreTheFewestWhereThoseAreFourCaches) {
  EXPECT_EQ(pieces_beyond_cache(kData, std::nullopt, kPlenty), 8U);
  EXPECT_EQ(pieces_beyond_cache(kData, 1, kPlenty), 8U);
  EXPECT_EQ(pieces_beyond_cache(kData, 62, kPlenty), 8U);
}

TEST(PiecesBeyondCache, GrowWithTheCache) {
  EXPECT_EQ(pieces_beyond_cache(kData, 63, kPlenty), 9U);    // 252 <= 275
  EXPECT_EQ(pieces_beyond_cache(kData, 100, kPlenty), 14U);  // 400 = 50 + 14 * 25
  EXPECT_EQ(pieces_beyond_cache(kData, 101, kPlenty), 15U);
}

TEST(PiecesBeyondCache, AreNoMoreThanHalfTheMemoryHolds) {
  EXPECT_EQ(pieces_beyond_cache(kData, 1000, 1000), 18U);  // 50 + 18 * 25 = 500
  EXPECT_EQ(pieces_beyond_cache(kData, 1000, 100), 8U);
  EXPECT_EQ(pieces_beyond_cache(kData, 1000, 0), 158U);  // of memory nothing is known
}

TEST(UsableMemory, IsSomethingHere) { EXPECT_GT(usable_memory_bytes(), size_t{64} << 20U); }

}  // namespace
}  // namespace llmprof
