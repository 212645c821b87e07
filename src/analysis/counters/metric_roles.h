#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::analysis {

// What a counter or sensor of the collector tells.
enum class CounterRole : uint8_t {
  dram_read,         // bytes, a sum over each sample
  dram_write,        // likewise
  sm_active,         // %, a mean
  tensor_active,     // %, a mean
  sm_clock,          // MHz
  memory_clock,      // MHz
  power,             // W
  temperature,       // C
  energy,            // J since some beginning
  throttle_reasons,  // NVML's bits
};
inline constexpr size_t kCounterRoles = static_cast<size_t>(CounterRole::throttle_reasons) + 1;

// None for what no figure is made of.
std::optional<CounterRole> counter_role(std::string_view name, std::string_view unit);

// NVML's reasons for lower clocks. Those that slow a GPU against its will are `slowing`; an idle
// GPU and clocks that somebody chose are not.
struct ThrottleReason {
  uint64_t bit = 0;
  std::string_view words;
  bool slowing = false;
};
// The reasons of a mask; bits that nobody knows are one reason together.
std::vector<ThrottleReason> throttle_reasons(uint64_t mask);

}  // namespace llmprof::analysis
