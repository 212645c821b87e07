#pragma once

#include <optional>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// What single runs can show. One run per side says nothing of how far equal runs differ, so a
// comparison of two assumes it: by how far equal runs differed where they were recorded, and by
// what other programs did meanwhile (docs/diff.md, "Single runs"). None where a side has several
// runs, which measure it.
class SingleRuns {
 public:
  static std::optional<SingleRuns> of(const Sides& sides);

  // What a quantity is made of, in its unit.
  struct Made {
    bool of_host = false;     // of a GPU: the host's time is in it, too (wall and idle times)
    double base_wall = 0;     // the wall time that it is a part of
    double most_idle = 0;     // the larger of both sides' idle times in that
    double base_stage_s = 0;  // all measured instances of its stage, in seconds
    double now_stage_s = 0;
  };
  // Widens the interval by what equal runs may differ by, before it is judged.
  void widen(const Made& made, Comparison& comparison) const;

 private:
  // By how much equal runs are taken to differ, relative.
  double widen_on_cpu(const Made& made, Comparison& comparison) const;
  double widen_on_gpu(const Made& made, Comparison& comparison) const;

  bool cpu_ = false;
  const profile::PassLoad* base_load_ = nullptr;  // null: not measured
  const profile::PassLoad* now_load_ = nullptr;
  bool short_of_cpus_ = false;  // in any pass of either side
};

}  // namespace llmprof::compare
