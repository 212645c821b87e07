#pragma once

#include <array>
#include <cstdint>

namespace llmprof::load {

// Random numbers that are the same on every machine: integers (xoshiro256**, seeded by splitmix64)
// and basic arithmetic alone, because the C library's logarithm differs between processors.
class Random {
 public:
  // Streams of one seed are independent: arrivals do not change when lengths are drawn differently.
  Random(uint64_t seed, uint64_t stream);

  uint64_t next();
  // Uniform in (0, 1].
  double fraction();
  // Uniform from `least` to `most`, both included.
  uint64_t between(uint64_t least, uint64_t most);
  // With this mean.
  double exponential(double mean);

 private:
  std::array<uint64_t, 4> state_{};
};

// A well-mixed number of two.
uint64_t mixed(uint64_t a, uint64_t b);

// The natural logarithm of a normal positive number, to 1e-15 relative to it.
double portable_log(double x);

}  // namespace llmprof::load
