#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "analysis/layers/layers.h"
#include "analysis/stages/stages.h"
#include "profile/sequence.h"

namespace llmprof::analysis {

using ClassTimes = std::array<Nanoseconds, kKernelClasses>;

// Kernel time by class of each instance and step.
struct ClassesOfWork {
  std::vector<ClassTimes> instances;
  std::vector<ClassTimes> steps;
};

// Also returns the sequence of each stage that has kernels outside warm-up.
std::tuple<std::vector<profile::KernelSequence>, ClassesOfWork> find_kernel_sequences(
    const trace::Trace& trace, const Stages& stages, const DescribedNames& names);

}  // namespace llmprof::analysis
