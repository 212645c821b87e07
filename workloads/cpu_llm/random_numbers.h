#pragma once

#include <cstdint>

namespace cpu_llm {

// Random numbers by index instead of by sequence: any thread may draw any of them.
class RandomNumbers {
 public:
  RandomNumbers(uint64_t seed, uint64_t stream) : key_(mixed(mixed(seed) + stream)) {}

  [[nodiscard]] uint64_t bits(uint64_t place) const { return mixed(key_ + place * kGolden); }

  // From -1 to 1.
  [[nodiscard]] float symmetric(uint64_t place) const {
    constexpr float kScale = 1.0F / static_cast<float>(1U << 23U);
    return static_cast<float>(bits(place) >> 40U) * kScale - 1.0F;
  }

  [[nodiscard]] uint64_t below(uint64_t limit, uint64_t place) const { return bits(place) % limit; }

 private:
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

  // The output function of SplitMix64 (Steele, Lea, Flood 2014).
  static uint64_t mixed(uint64_t value) {
    value += kGolden;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
    return value ^ (value >> 31U);
  }

  uint64_t key_;
};

}  // namespace cpu_llm
