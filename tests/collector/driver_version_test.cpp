#include "collector/cuda/driver/driver.h"

#include <gtest/gtest.h>

#include <string>

namespace llmprof::collector {
namespace {

std::string version_in(const std::string& text) {
  char version[kDriverVersionBytes] = {};
  return find_version(text.c_str(), version) ? version : "none";
}

TEST(DriverVersion, IsFoundInTheKernelsFiles) {
  EXPECT_EQ(version_in("580.95.05\n"), "580.95.05");
  EXPECT_EQ(
      version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release "
                 "Build  (dvs-builder@U22-I3)\nGCC version:  gcc version 12.3.0 (Ubuntu)\n"),
      "580.95.05");
  EXPECT_EQ(version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129  Thu Oct 19\n"),
            "535.129");
}

TEST(DriverVersion, IsNotGuessed) {
  EXPECT_EQ(version_in(""), "none");
  EXPECT_EQ(version_in("  \n"), "none");
  EXPECT_EQ(version_in("NVIDIA UNIX x86_64 Kernel Module 12 .5 12.x v580.1\n"), "none");
  EXPECT_EQ(version_in("7." + std::string(kDriverVersionBytes, '1')), "none");
}

}  // namespace
}  // namespace llmprof::collector
