#include "cpu_llm/cpu_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/temporary_folder.h"

namespace cpu_llm {
namespace {

namespace fs = std::filesystem;

TEST(CpuDevice, AQuotaIsWholeCpus) {
  EXPECT_EQ(cpus_of_quota("max 100000\n"), std::nullopt);
  EXPECT_EQ(cpus_of_quota("400000 100000\n"), 4U);
  EXPECT_EQ(cpus_of_quota("250000 100000\n"), 2U);
  EXPECT_EQ(cpus_of_quota("50000 100000\n"), 1U);
  EXPECT_EQ(cpus_of_quota(""), std::nullopt);
  EXPECT_EQ(cpus_of_quota("100000 0\n"), std::nullopt);
}

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
  llmprof::testing::TemporaryFolder folder;
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

TEST(CpuDevice, ThereIsAtLeastOneCpuAndNoMoreThanTheSystemHas) {
  EXPECT_GE(available_cpus(), 1U);
  EXPECT_LE(available_cpus(), static_cast<size_t>(sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace
}  // namespace cpu_llm
