#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/passes/prepare.h"
#include "analysis/passes/results.h"
#include "analysis/statistics/statistics.h"
#include "base/text.h"
#include "profile/profile.h"

// The parts of a profile, made from what the passes found: nothing is measured here but sums, means
// and shares of it.
namespace llmprof::analysis::result {

struct Found {
  const Prepared& prepared;
  const Results& results;
};

// Null where there is none, or only warm-up.
const Stage* measured_stage(const Stages& stages, std::string_view name);

profile::Context context(const Found& found);
std::optional<profile::Selection> selection(const Selection& selection);
std::optional<profile::Model> model(const Found& found);
profile::Workload workload(const Found& found);
profile::Engine engine(const Found& found);
profile::Utilization utilization(const Found& found);
profile::Totals totals(const Found& found);
std::vector<profile::DeviceTime> device_time(const Found& found);
std::vector<profile::Copies> copies(const Found& found);
std::optional<profile::Stage1> stage1(const Found& found);
std::optional<profile::Overhead> overhead(const Found& found);

profile::StagesFound stages_found(const Found& found);
std::optional<profile::Coverage> coverage(const Found& found);
profile::TokenTimes token_times(const Found& found);
std::vector<profile::Stage> stages(const Found& found);
// Fills what the program did without profiling; `stage` has all else.
void add_unwatched(const Found& found, uint32_t index, profile::Stage& stage);
// `budget` is null where there is none.
profile::StageJudgement judge(const profile::Stage& stage, const StageBudget* budget);
std::vector<profile::StageNote> stage_notes(const Found& found);
std::optional<profile::Measured> measured(const Found& found, size_t stage);

std::vector<profile::Step> steps(const Found& found);
std::vector<profile::Gap> gaps(const Found& found);
std::vector<profile::RepeatedGap> repeated_gaps(const Found& found);
std::vector<profile::SlowStep> slow_steps(const Found& found);
std::vector<profile::Layer> layers(const Found& found);
profile::LayerSummary layer_summary(const Found& found);
std::vector<profile::KernelSequence> kernel_sequences(const Found& found);
// Without classes of 0.
profile::ByName<profile::WholeNanoseconds> class_times(const ClassTimes& times);

std::vector<profile::Kernel> kernels(const Found& found, const std::vector<profile::Stage>& stages);
std::vector<profile::KernelClassTotal> classes(const Found& found);
std::vector<profile::KernelRecord> top_kernels(const std::vector<profile::Kernel>& kernels);
std::vector<profile::KernelOnAllDevices> kernels_on_all_devices(const Found& found);
std::vector<profile::KernelOnAllDevices> measured_kernels_on_all_devices(const Found& found);
profile::Roofline roofline(const Found& found);
std::vector<profile::Operator> operators(const Found& found);
profile::OperatorsFound operators_found(const Found& found);

std::vector<profile::StageRecoverable> recoverable(const Found& found);
std::vector<profile::Finding> findings(const Found& found);

}  // namespace llmprof::analysis::result
