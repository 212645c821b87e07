#include "base/machine.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

TEST(CpuName, HasTheNameThatLinuxGivesIt) {
  EXPECT_EQ(cpu_name("processor\t: 0\nvendor_id\t: AuthenticAMD\n"
                     "model name\t: AMD EPYC 9654 96-Core Processor\nflags\t: fpu\n"),
            "AMD EPYC 9654 96-Core Processor");
}

TEST(CpuName, IsNamedByItsNumbersOnArm) {
  const auto named = [](const char* implementer, const char* part) {
    return cpu_name("processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: " +
                    std::string(implementer) + "\nCPU architecture: 8\nCPU variant\t: 0x3\n" +
                    "CPU part\t: " + part + "\nCPU revision\t: 1\n");
  };
  EXPECT_EQ(named("0x41", "0xd0c"), "Neoverse-N1");
  EXPECT_EQ(named("0x41", "0xd40"), "Neoverse-V1");
  EXPECT_EQ(named("0x41", "0xd4f"), "Neoverse-V2");
  EXPECT_EQ(named("0x61", "0x022"), "Apple silicon");
  EXPECT_EQ(named("0x41", "0xfff"), "arm64 CPU (implementer 0x41, part 0xfff)");
}

TEST(CpuName, MayBeUnknown) {
  EXPECT_EQ(cpu_name(""), "");
  EXPECT_EQ(cpu_name("CPU implementer\t: \nCPU part"), "");
}

}  // namespace
}  // namespace llmprof
