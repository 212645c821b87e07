#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/layers/layers.h"
#include "analysis/stages/stages.h"
#include "profile/sequence.h"

namespace llmprof::analysis {

using profile::PassBlock;

// All launches of one kernel name at one place: the nth launch of that name in a layer, all layers
// of all passes of the stage together.
struct PlacedKernels {
  PassBlock block = PassBlock::whole_pass;
  trace::StringId name;
  uint32_t occurrence = 0;  // n, from 0
  uint64_t calls = 0;
  Nanoseconds total = 0;
  double positions = 0;  // sum over calls, from 0 in its layer or pass
  trace::ShapeId commonest_shape;
  uint64_t shapes = 0;  // distinct ones
};

struct StageSequence {
  uint64_t passes = 0;
  uint64_t layers = 0;                 // of all passes together
  std::vector<PlacedKernels> kernels;  // by block, then mean position
};

using ClassTimes = std::array<Nanoseconds, kKernelClasses>;

// What the kernels of each stage, instance and step come to, warm-up excluded from stages.
struct KernelSequences {
  std::vector<StageSequence> stages;  // one per stage
  std::vector<ClassTimes> instances;  // one per instance
  std::vector<ClassTimes> steps;      // one per step
};

KernelSequences find_kernel_sequences(const trace::Trace& trace, const Stages& stages,
                                      const DescribedNames& names);

}  // namespace llmprof::analysis
