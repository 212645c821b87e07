#include <algorithm>
#include <set>
#include <vector>

#include "job/clock/align_clocks.h"
#include "job/collectives/match.h"
#include "job/findings/job_findings.h"
#include "job/links/links.h"
#include "job/rank_comparison.h"
#include "job/steps/job_steps.h"
#include "job/waits/measure_waits.h"

namespace llmprof::job {
namespace {

// Which ranks the job has, which ones were recorded, and where they ran.
profile::Job identify_job(const std::vector<RankPart>& parts) {
  profile::Job job;
  std::set<uint64_t> recorded;
  std::set<std::string> hosts;
  for (const RankPart& part : parts) {
    const RankIdentity& who = part.identity;
    if (!who.job.empty() && !job.id) job.id = who.job;
    job.world_size = std::max({job.world_size, who.world_size.value_or(0), who.rank + 1});
    if (who.state == profile::RankState::missing) continue;
    recorded.insert(who.rank);
    if (who.state == profile::RankState::died) job.died.push_back(who.rank);
    if (!who.host.empty()) hosts.insert(who.host);
  }
  job.recorded = recorded.size();
  job.hosts = hosts.size();  // 0 if no capture states one
  // Bounded: a wrong world size in a capture must not fill memory.
  constexpr uint64_t kMostRanks = 1'000'000;
  for (uint64_t rank = 0; rank < std::min(job.world_size, kMostRanks); ++rank) {
    if (!recorded.contains(rank)) job.missing.push_back(rank);
  }
  std::ranges::sort(job.died);
  job.lower_bound = !job.missing.empty();
  return job;
}

// Why waits were not measured.
profile::Reasons why_not_compared(const std::vector<RankPart>& parts,
                                  const std::vector<MatchedLane>& lanes) {
  if (parts.size() < 2) return {make_reason(ReasonKind::one_rank_recorded)};
  size_t collectives = 0;
  for (const RankPart& part : parts) collectives += part.collectives.size();
  if (collectives == 0) {
    return {make_reason(ReasonKind::ranks_without_collectives,
                        FindingValues().add("ranks", parts.size()))};
  }
  const bool some = std::ranges::any_of(lanes, [](const auto& lane) { return lane.size() > 0; });
  if (some) return {};
  return {make_reason(ReasonKind::collectives_not_matched,
                      FindingValues().add("collectives", collectives))};
}

// Bubble share of all stages, weighted by their time.
std::optional<profile::Share> bubbles(const std::vector<RankPart>& parts,
                                      const RankComparison& comparison, const Units& units) {
  double idle = 0;
  double wall = 0;
  for (uint32_t stage = 0; stage < units.stages().size(); ++stage) {
    const auto share = bubble_share(parts, comparison, units.stages()[stage]);
    if (!share) continue;
    idle += *share * static_cast<double>(units.wall(stage));
    wall += static_cast<double>(units.wall(stage));
  }
  if (wall <= 0) return std::nullopt;
  return profile::Share{idle / wall};
}

}  // namespace

RankComparison compare_ranks(const std::vector<RankPart>& parts, const Links& links,
                             const ParallelismOptions& options) {
  RankComparison comparison;
  profile::Job& job = comparison.job;
  job = identify_job(parts);
  if (parts.empty()) return comparison;
  const Lanes lanes = find_lanes(parts, options);
  const std::vector<MatchedLane> matched = match_collectives(parts, lanes);
  comparison.clocks = align_clocks(parts, same_moments(parts, matched));
  JobSteps steps = make_job_steps(parts, comparison.clocks, same_steps(parts, matched));
  job.steps_matched = steps.matched;
  job.steps_unmatched = steps.unmatched;

  const Units units(parts, steps);
  const Waits waits =
      measure_waits(parts, lanes, matched, comparison.clocks, units, units_per_bin(units));
  const MeasuredJob measured{parts, lanes, matched, units, waits};
  comparison.per_rank = rank_stages(measured);
  const ExpertTimes experts = expert_times(parts, std::nullopt);
  if (experts.imbalance > 0) job.expert_imbalance = experts.imbalance;
  job.groups = find_parallelism(measured, options, experts.imbalance > 0);
  job.collectives = job_collectives(measured, links);
  job.lower_bound =
      job.lower_bound || std::ranges::any_of(job.collectives, &profile::JobCollective::lower_bound);
  job.stragglers = find_stragglers(measured, comparison);
  job.pipeline_bubble_share = bubbles(parts, comparison, units);
  job.heat = make_heat(measured);
  job.why_not_reasons = why_not_compared(parts, matched);
  comparison.instances = std::move(steps.instances);
  comparison.steps = std::move(steps.steps);
  comparison.findings = find_job_findings(parts, comparison);
  return comparison;
}

}  // namespace llmprof::job
