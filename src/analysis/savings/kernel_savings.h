#pragma once

#include <vector>

#include "analysis/ranking/kernel_shapes.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"
#include "analysis/untraced/untraced_times.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// Each kernel's time in one stage, overlap counted in full, beside the least it could take. Where a
// profiler counted bytes and FLOPs of a kernel, and all its launches in the stage are like those,
// its floor is by them and the GPU's peaks (`gpu` null: not known). Otherwise it is its share, by
// time, of the floor of its class. Largest potential saving first.
std::vector<profile::RecoverableKernel> kernel_savings(
    const KernelRanking& ranking, const std::vector<OpenedKernel>& opened, uint64_t instances,
    const StageSavings& stage, const Roofline& roofline, const llm::GpuSpec* gpu);

// What each stage could save, by part and by kernel.
std::vector<profile::StageRecoverable> named_savings(
    const Stages& stages, trace::DeviceKind device, const KernelRanking& ranking,
    const std::vector<OpenedKernel>& opened, const Unwatched& unwatched,
    const std::vector<StageSavings>& of_stages, const Roofline& roofline, const Utilization& use);

}  // namespace llmprof::analysis
