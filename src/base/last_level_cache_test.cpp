#include "base/machine.h"

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

}  // namespace
}  // namespace llmprof
