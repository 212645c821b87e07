#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "analysis/layers/layers.h"
#include "analysis/stages/stages.h"
#include "profile/sequence.h"

namespace llmprof::analysis {

using ClassTimes = std::array<Nanoseconds, kKernelClasses>;

// What the kernels of each instance and step come to.
struct ClassesOfWork {
  std::vector<ClassTimes> instances;
  std::vector<ClassTimes> steps;
};

// And the sequence of each stage that has kernels outside of warm-up.
std::tuple<std::vector<profile::KernelSequence>, ClassesOfWork> find_kernel_sequences(
    const trace::Trace& trace, const Stages& stages, const DescribedNames& names);

}  // namespace llmprof::analysis
