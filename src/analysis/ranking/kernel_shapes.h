#pragma once

#include <vector>

#include "analysis/ranking/kernels.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// Launches of one kernel name on one device with one grid and block.
struct ShapeRow {
  trace::Extent grid{};
  trace::Extent block{};
  uint64_t calls = 0;
  Nanoseconds total = 0;
  std::vector<StageTime> stages;  // one entry per stage of Stages::stages
};

// One row of the ranking, split by shape and stage.
struct OpenedKernel {
  std::vector<ShapeRow> shapes;   // longest total first
  std::vector<StageTime> stages;  // one entry per stage
};

// One per row of the ranking. Without a timeline the entries are empty.
std::vector<OpenedKernel> open_kernels(const trace::Trace& trace, const KernelRanking& ranking,
                                       const Stages& stages);

}  // namespace llmprof::analysis
