#pragma once

namespace llmprof::compare {

// The relative change that would be called one with probability 0.8, where a 95 % interval reaches
// `half` to either side.
inline double smallest_seen(double threshold, double half) {
  // Quantiles of the normal distribution: of a probability of 0.8, and of half of that interval.
  constexpr double kPower = 0.8416;
  constexpr double kHalf = 1.96;
  return threshold + half * (1 + kPower / kHalf);
}

}  // namespace llmprof::compare
