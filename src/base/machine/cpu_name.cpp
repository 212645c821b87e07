#include "base/machine/cpu_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace llmprof {
namespace {

// The value of the first line "key : value".
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) {
      return trim(line.substr(colon + 1));
    }
  }
  return {};
}

std::optional<uint32_t> hexadecimal(std::string_view text) {
  constexpr int kBase = 16;
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, kBase);
  if (error != std::errc()) return std::nullopt;
  return value;
}

struct ArmPart {
  uint32_t implementer;
  uint32_t part;
  std::string_view name;
};

// Implementer and part of the MIDR register, as Arm and the others assign them.
constexpr std::array<ArmPart, 25> kArmParts = {{
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},  {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"}, {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd47, "Cortex-A710"}, {0x41, 0xd48, "Cortex-X2"},
    {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd83, "Neoverse-V3AE"},
    {0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"}, {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "Kunpeng-920"}, {0xc0, 0xac3, "Ampere-1"},    {0xc0, 0xac4, "Ampere-1a"},
    {0x43, 0x0af, "ThunderX2"},
}};

constexpr uint32_t kApple = 0x61;

std::string arm_name(uint32_t implementer, uint32_t part) {
  const auto* const known = std::find_if(kArmParts.begin(), kArmParts.end(), [&](const auto& row) {
    return row.implementer == implementer && row.part == part;
  });
  if (known != kArmParts.end()) return std::string(known->name);
  if (implementer == kApple) return "Apple silicon";
  return fmt::format("arm64 CPU (implementer {:#x}, part {:#x})", implementer, part);
}

}  // namespace

std::string cpu_name(std::string_view cpuinfo) {
  const std::string_view name = value_of(cpuinfo, "model name");
  if (!name.empty()) return std::string(name);
  const auto implementer = hexadecimal(value_of(cpuinfo, "CPU implementer"));
  const auto part = hexadecimal(value_of(cpuinfo, "CPU part"));
  if (implementer && part) return arm_name(*implementer, *part);
  return {};
}

}  // namespace llmprof
