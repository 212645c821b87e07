#pragma once

#include <optional>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Noise of single runs. One run per side cannot show how far equal runs differ, so a comparison
// assumes it: from measured differences of equal runs, and from the load of other programs
// (docs/diff.md, "Single runs"). None if a side has several runs, which measure it.
class SingleRuns {
 public:
  static std::optional<SingleRuns> of(const Sides& sides);

  // What a quantity consists of, in its unit.
  struct Composition {
    bool of_host = false;     // on a GPU: includes the host's time (wall and idle times)
    double base_wall = 0;     // wall time that contains it
    double most_idle = 0;     // the larger idle time of both sides
    double base_stage_s = 0;  // all measured instances of its stage, in seconds
    double now_stage_s = 0;
  };
  // Widens the interval by the assumed difference of equal runs, before it is judged.
  void widen(const Composition& made, Comparison& comparison) const;

 private:
  // Assumed relative difference of equal runs.
  double widen_on_cpu(const Composition& made, Comparison& comparison) const;
  double widen_on_gpu(const Composition& made, Comparison& comparison) const;

  bool cpu_ = false;
  const profile::RecordingLoad* base_load_ = nullptr;  // null: not measured
  const profile::RecordingLoad* now_load_ = nullptr;
  bool short_of_cpus_ = false;  // in any pass of either side
};

// Rules that turn figures into answers.
struct Judging {
  double threshold = 0;              // relative
  std::optional<SingleRuns> single;  // if both sides are one run
  std::optional<NoAnswer> withheld;  // why no change is claimed
  bool recorded_alike = true;        // by the same tool, with the same visible kernels
  bool own_peaks = false;            // different GPUs: utilization of each relative to its own peak
};

// Sets relative values, the verdict, the smallest detectable change and the number of runs needed.
void judge(double threshold, Comparison& comparison);

// Removes any claim of a change; the figures stay.
void withhold(Comparison& comparison);

}  // namespace llmprof::compare
