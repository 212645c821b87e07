#include "readers/kineto/memory.h"

#include <gtest/gtest.h>

namespace llmprof::readers {
namespace {

using About = MemoryReport::About;

MemoryArguments usual() { return {"4096", "512", "1024", "2097152", "1", "3"}; }

TEST(KinetoMemory, AllocationsAndFreesOfGpus) {
  const MemoryReport report = memory_report(usual());
  EXPECT_EQ(report.about, About::gpu);
  EXPECT_EQ(report.device, 3U);
  EXPECT_EQ(report.address, 4096U);
  EXPECT_EQ(report.bytes, 512);
  EXPECT_EQ(report.allocated, 1024U);
  EXPECT_EQ(report.reserved, 2097152U);
  MemoryArguments free = usual();
  free.bytes = "-512";
  EXPECT_EQ(memory_report(free).bytes, -512);
  free.device_type = "6";
  EXPECT_EQ(memory_report(free).about, About::gpu);
}

TEST(KinetoMemory, OtherDevicesAreNotMixedWithGpus) {
  MemoryArguments host = usual();
  host.device_type = "0";
  host.device = "-1";
  EXPECT_EQ(memory_report(host).about, About::host);
  MemoryArguments other = usual();
  other.device_type = "9";
  EXPECT_EQ(memory_report(other).about, About::other_device);
  EXPECT_EQ(memory_report({"", "512", "", "", "1", "0"}).about, About::without_totals);
}

struct Damage {
  std::string_view MemoryArguments::* argument;
  std::string_view token;
};

TEST(KinetoMemory, DamagedValuesAreNoReport) {
  constexpr Damage kCases[] = {
      {&MemoryArguments::address, ""},
      {&MemoryArguments::address, "0"},
      {&MemoryArguments::bytes, ""},
      {&MemoryArguments::bytes, "0"},
      {&MemoryArguments::bytes, "-"},
      {&MemoryArguments::bytes, "--5"},
      {&MemoryArguments::bytes, "many"},
      {&MemoryArguments::bytes, "1125899906842624"},  // 2^50
      {&MemoryArguments::bytes, "-1125899906842624"},
      {&MemoryArguments::bytes, "18446744073709551615"},
      {&MemoryArguments::allocated, "-1"},
      {&MemoryArguments::allocated, "1125899906842624"},
      {&MemoryArguments::reserved, "null"},
      {&MemoryArguments::device_type, ""},
      {&MemoryArguments::device_type, "256"},
      {&MemoryArguments::device, "-1"},
      {&MemoryArguments::device, "65536"},
  };
  for (const Damage& damage : kCases) {
    MemoryArguments arguments = usual();
    arguments.*damage.argument = damage.token;
    EXPECT_EQ(memory_report(arguments).about, About::nothing) << damage.token;
  }
}

TEST(KinetoMemory, KeysOfArguments) {
  EXPECT_EQ(memory_argument("Addr"), &MemoryArguments::address);
  EXPECT_EQ(memory_argument("Device Id"), &MemoryArguments::device);
  EXPECT_EQ(memory_argument("Device"), nullptr);
  EXPECT_EQ(memory_argument(""), nullptr);
}

}  // namespace
}  // namespace llmprof::readers
