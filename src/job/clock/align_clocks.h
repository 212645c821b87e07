#pragma once

#include <cstdint>
#include <vector>

#include "job/rank_comparison.h"

namespace llmprof::job {

// Times that two parts read at the same moment: ends of matched collectives.
struct SameMoments {
  uint32_t first = 0;   // rank part
  uint32_t second = 0;  // rank part
  std::vector<Nanoseconds> on_first;
  std::vector<Nanoseconds> on_second;
};

// Maps times on the second clock to the first: second + offset + drift * second. Robust: up to a
// third of the moments may be wrong.
struct ClockFit {
  Nanoseconds offset = 0;
  double drift = 0;  // a ratio: 20e-6 is 20 ppm
};
ClockFit fit_clock(const std::vector<Nanoseconds>& on_first,
                   const std::vector<Nanoseconds>& on_second);

// How a difference changes over time: the median slope (Theil-Sen) of pairs half of all points
// apart, not of all pairs. 0 if there is none.
double robust_slope(const std::vector<double>& time, const std::vector<double>& difference);

// The part whose clock is the job's: the lowest rank that recorded work.
uint32_t reference_part(const std::vector<RankPart>& parts);

// What the captures state about two clocks, before collectives are used: the first's time minus the
// second's, at the second's time 0.
struct StatedClocks {
  bool shared = false;  // one clock, exact
  bool wall = false;    // Unix time of the hosts
  Nanoseconds offset = 0;
};
StatedClocks stated_clocks(const RankIdentity& first, const RankIdentity& second);

// By part. Clocks of one domain are identical. Others are joined by the collectives with the most
// moments, then by the hosts' wall clocks.
std::vector<profile::RankClock> align_clocks(const std::vector<RankPart>& parts,
                                             const std::vector<SameMoments>& moments);

}  // namespace llmprof::job
