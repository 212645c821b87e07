#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/engine/engine.h"
#include "analysis/findings/findings.h"
#include "analysis/kernel_order/kernel_order.h"
#include "analysis/layers/layers.h"
#include "analysis/mfu/utilization.h"
#include "analysis/operators/operators.h"
#include "analysis/passes/prepare.h"
#include "analysis/ranking/kernels.h"
#include "analysis/requests/served_windows.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"
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
std::optional<profile::Model> model(const UseOfPeaks& use);
profile::Utilization utilization(const UseOfPeaks& use);
std::optional<profile::Stage1> stage1(const trace::Trace& trace, const Stages& stages);
std::optional<profile::Overhead> overhead(
    const Prepared& in, const std::optional<profile::CollectorOverhead>& measured);

profile::StagesFound stages_found(const Stages& stages);
profile::TokenTimes token_times(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                const UseOfPeaks& use,
                                const std::vector<profile::ServedWindow>& windows,
                                const std::optional<profile::Requests>& requests);

std::vector<profile::Stage> stages(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                   const UseOfPeaks& utilization, const Counters& counters,
                                   const ClassesOfWork& classes, const UntracedStages& untraced);
std::vector<profile::StageNote> stage_notes(const Stages& stages);

std::vector<profile::Step> steps(const Stages& stages, const Counters& counters,
                                 const ClassesOfWork& classes);
std::tuple<std::vector<profile::Gap>, std::vector<profile::RepeatedGap>> gaps(
    const Prepared& in, const Stages& stages, const Budgets& budgets);
// Also returns the rule for slow steps; empty if there are no steps.
std::tuple<std::vector<profile::SlowStep>, profile::Reasons> slow_steps(const Stages& stages,
                                                                        const Budgets& budgets);
// Times by word, without zeros; times of one word are added up.
template <class Word, class WordOf>
profile::ByWord<Word, profile::WholeNanoseconds> by_word(std::span<const Nanoseconds> times,
                                                         const WordOf& word_of) {
  profile::ByWord<Word, profile::WholeNanoseconds> named;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    const Word word = word_of(i);
    auto known = std::ranges::find(named, word, [](const auto& entry) { return entry.first; });
    if (known == named.end()) known = named.insert(known, {word, {}});
    known->second.value += times[i];
  }
  return named;
}
inline auto by_class(const ClassTimes& times) {
  return by_word<KernelClass>(times, [](size_t i) { return static_cast<KernelClass>(i); });
}

}  // namespace llmprof::analysis::result
