#include "job/findings/job_findings.h"

namespace llmprof::job {
namespace {

using profile::StragglerCause;

// Smallest differences of tokens and clocks that matter.
constexpr double kClearly = 0.03;
// Share of the wait that a cause must explain. A CPU is shared: a preempted rank also leaves
// collectives late, and does not compute longer between them than it would alone.
constexpr double kMostOfWait = 0.5;
constexpr double kPartOfWaitOnCpu = 0.25;
// Share of the wait from which longer kernels are mentioned next to another cause.
constexpr double kWorthMentioning = 0.05;

}  // namespace

Cause find_cause(const RankAgainstOthers& rank) {
  const bool busy_longer =
      rank.busy_longer >= (rank.on_cpu ? kPartOfWaitOnCpu : kMostOfWait) * rank.wait;
  if (busy_longer && rank.tokens && rank.tokens_of_others &&
      *rank.tokens > *rank.tokens_of_others * (1 + kClearly)) {
    FindingValues values;
    values.add("tokens", *rank.tokens).add("tokens_of_others", *rank.tokens_of_others);
    return {StragglerCause::more_tokens,
            make_reason(ReasonKind::rank_more_tokens, std::move(values))};
  }
  if (busy_longer && rank.clock && rank.clock_of_others &&
      *rank.clock < *rank.clock_of_others * (1 - kClearly)) {
    FindingValues values;
    values.add("clock", profile::Hertz{*rank.clock})
        .add("clock_of_others", profile::Hertz{*rank.clock_of_others});
    return {StragglerCause::lower_clock,
            make_reason(ReasonKind::rank_lower_clock, std::move(values))};
  }
  if (busy_longer) {
    FindingValues values;
    values.add("busy", profile::to_milliseconds(rank.busy))
        .add("busy_of_others", profile::to_milliseconds(rank.busy_of_others))
        .add("longer", profile::to_milliseconds(rank.busy_longer))
        .add("by_step", rank.by_step);
    return {StragglerCause::longer_kernels,
            make_reason(ReasonKind::rank_busy_longer, std::move(values))};
  }
  if (!rank.on_cpu && rank.launched_later && *rank.launched_later >= kMostOfWait * rank.wait) {
    FindingValues values;
    values.add("later", profile::to_milliseconds(*rank.launched_later))
        .add("by_step", rank.by_step);
    if (rank.busy_longer >= kWorthMentioning * rank.wait) {
      values.add("longer", profile::to_milliseconds(rank.busy_longer));
    }
    return {StragglerCause::late_launch,
            make_reason(ReasonKind::rank_launched_later, std::move(values))};
  }
  return {StragglerCause::unknown, make_reason(ReasonKind::rank_cause_not_seen)};
}

}  // namespace llmprof::job
