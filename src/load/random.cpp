#include "load/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace llmprof::load {
namespace {

// One step of splitmix64 (Steele, Lea, Flood 2014).
uint64_t splitmix(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  uint64_t mix = state;
  mix = (mix ^ (mix >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  mix = (mix ^ (mix >> 27U)) * 0x94D049BB133111EBULL;
  return mix ^ (mix >> 31U);
}

}  // namespace

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t state = a;
  state = splitmix(state) ^ b;
  return splitmix(state);
}

Random::Random(uint64_t seed, uint64_t stream) {
  uint64_t state = mixed(seed, stream);
  for (uint64_t& word : state_) word = splitmix(state);
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::fraction() {
  constexpr unsigned kUnusedBits = 11;
  constexpr double kStep = 0x1p-53;
  return static_cast<double>((next() >> kUnusedBits) + 1) * kStep;
}

uint64_t Random::between(uint64_t least, uint64_t most) {
  const uint64_t count = most - least + 1;
  if (count == 0) return next();
  // Numbers beyond the last whole multiple are drawn again: every value is equally likely.
  const uint64_t beyond = (0 - count) % count;
  uint64_t drawn = next();
  while (drawn < beyond) drawn = next();
  return least + drawn % count;
}

double Random::exponential(double mean) { return -mean * portable_log(fraction()); }

double portable_log(double x) {
  constexpr double kHalfRoot2 = 0x1.6a09e667f3bcdp-1;
  constexpr int kTerms = 12;
  int exponent = 0;
  double part = std::frexp(x, &exponent);  // in [0.5, 1), exact
  if (part < kHalfRoot2) {
    part *= 2;
    --exponent;
  }
  // log(part) = 2 artanh(s): a series in s^2 <= 0.0295.
  const double s = (part - 1) / (part + 1);
  const double square = s * s;
  double sum = 0;
  for (int term = kTerms; term >= 0; --term) sum = sum * square + 1.0 / (2 * term + 1);
  return exponent * std::numbers::ln2 + 2 * s * sum;
}

}  // namespace llmprof::load
