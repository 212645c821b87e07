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
  struct Made {
    bool of_host = false;     // on a GPU: includes the host's time (wall and idle times)
    double base_wall = 0;     // wall time that contains it
    double most_idle = 0;     // the larger idle time of both sides
    double base_stage_s = 0;  // all measured instances of its stage, in seconds
    double now_stage_s = 0;
  };
  // Widens the interval by the assumed difference of equal runs, before it is judged.
  void widen(const Made& made, Comparison& comparison) const;

 private:
  // Assumed relative difference of equal runs.
  double widen_on_cpu(const Made& made, Comparison& comparison) const;
  double widen_on_gpu(const Made& made, Comparison& comparison) const;

  bool cpu_ = false;
  const profile::PassLoad* base_load_ = nullptr;  // null: not measured
  const profile::PassLoad* now_load_ = nullptr;
  bool short_of_cpus_ = false;  // in any pass of either side
};

}  // namespace llmprof::compare
