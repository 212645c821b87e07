#include "cpu_llm/cpu_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cpu_llm {
namespace {

TEST(CpuDevice, AQuotaIsWholeCpus) {
  EXPECT_EQ(cpus_of_quota("max 100000\n"), std::nullopt);
  EXPECT_EQ(cpus_of_quota("400000 100000\n"), 4U);
  EXPECT_EQ(cpus_of_quota("250000 100000\n"), 2U);
  EXPECT_EQ(cpus_of_quota("50000 100000\n"), 1U);
  EXPECT_EQ(cpus_of_quota(""), std::nullopt);
  EXPECT_EQ(cpus_of_quota("100000 0\n"), std::nullopt);
}

TEST(CpuDevice, ThereIsAtLeastOneCpuAndNoMoreThanTheSystemHas) {
  EXPECT_GE(available_cpus(), 1U);
  EXPECT_LE(available_cpus(), machine_cpus());
  EXPECT_LE(machine_cpus(), static_cast<size_t>(sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace
}  // namespace cpu_llm
