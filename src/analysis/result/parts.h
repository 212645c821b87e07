#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/detection/served_windows.h"
#include "analysis/engine/engine.h"
#include "analysis/findings/findings.h"
#include "analysis/layers/layers.h"
#include "analysis/mfu/utilization.h"
#include "analysis/operators/operators.h"
#include "analysis/passes/prepare.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"
#include "analysis/sequence/kernel_sequences.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/stages.h"
#include "analysis/statistics/statistics.h"
#include "analysis/timeline/timeline.h"
#include "analysis/untraced/untraced_times.h"
#include "base/text.h"
#include "profile/profile.h"

// Passes that build parts of the profile from other passes' results. They only compute sums, means
// and shares.
namespace llmprof::analysis::result {

profile::Context context(const Prepared& in);
std::optional<profile::Selection> selection(const Prepared& in);
std::optional<profile::Model> model(const Utilization& use);
profile::Workload workload(const Utilization& use);
profile::Utilization utilization(const Utilization& use);
std::optional<profile::Stage1> stage1(const trace::Trace& trace, const Stages& stages);
std::optional<profile::Overhead> overhead(
    const Prepared& in, const std::optional<profile::CollectorOverhead>& measured);

profile::StagesFound stages_found(const Stages& stages);
std::optional<profile::Coverage> coverage(const Stages& stages,
                                          const std::optional<ScopeTotals>& scopes);
profile::TokenTimes token_times(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                const Utilization& use,
                                const std::vector<profile::ServedWindow>& windows);

std::vector<profile::Stage> stages(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                   const Utilization& utilization, const Counters& counters,
                                   const ClassesOfWork& classes, const UntracedTimes& untraced);
std::vector<profile::StageNote> stage_notes(const Stages& stages);

std::vector<profile::Step> steps(const Stages& stages, const Counters& counters,
                                 const ClassesOfWork& classes);
std::vector<profile::Gap> gaps(const Prepared& in, const Stages& stages, const Budgets& budgets);
std::vector<profile::RepeatedGap> repeated_gaps(const Prepared& in, const Stages& stages,
                                                const Budgets& budgets);
// Also returns the rule for slow steps; empty if there are no steps.
std::tuple<std::vector<profile::SlowStep>, profile::Reasons> slow_steps(const Stages& stages,
                                                                        const Budgets& budgets);
std::tuple<std::vector<profile::Layer>, profile::LayerSummary> layers(const Stages& stages,
                                                                      const Layers& found);
// Omits classes with time 0.
profile::ByWord<KernelClass, profile::WholeNanoseconds> class_times(const ClassTimes& times);

}  // namespace llmprof::analysis::result
