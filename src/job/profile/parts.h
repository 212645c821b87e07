#pragma once

#include <optional>
#include <vector>

#include "job/rank_comparison.h"
#include "job/rank_part.h"
#include "profile/profile.h"

// The job's profile, one topic per file. Statistics are over the job's own instances and steps;
// figures that all ranks have in them (busy times, kernels, budgets) are means over the ranks.
namespace llmprof::job::result {

// Input of the profile; parts and comparison are in the same order, by rank.
struct Ranks {
  const std::vector<RankPart>& parts;
  const RankComparison& comparison;
};

// Time in a step or instance of the job before the rank started and after it ended, while others
// were working. The second name is for CPUs, which have no idle time.
inline constexpr auto kWaitingPart = profile::TimePart::idle_waiting_for_rank;
inline constexpr auto kCpuWaitingPart = profile::TimePart::waiting_for_rank;

// Ranks with tokens of their own: those of a data-parallel group, otherwise the first.
std::vector<size_t> token_owners(const Ranks& ranks);
// GPUs that share the FLOPs of each pass, if the job shows it and no option states it.
double detected_sharing(const Ranks& ranks);

std::vector<profile::Step> job_steps(const Ranks& ranks);

// The job's stage without profiling, if the workload timed it. One rank's timing is the job's,
// since ranks run the stage together. `own` are the ranks' stages, null if a rank has none; `stage`
// has its statistics and its budget.
std::optional<profile::UntracedTimes> untraced_of_job(const std::vector<const profile::Stage*>& own,
                                                      const profile::Stage& stage);

// Each fills its topic's members of `job`; those of earlier topics are already filled.
using profile::Topic;
void merge(Topic<"failed captures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"captures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"key figures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"coverage">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"stages">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"stage notes">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"requests">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"token times">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"workload's own times">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"kernels">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"kernel sequences">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"roofline">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"findings">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"operators">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"diagnostics">, const Ranks& ranks, profile::Profile& job);

// The same kernel gets one short name on all ranks, and different kernels get different names, as
// in the analysis of one rank.
void make_short_names_unique(std::vector<RankPart>& parts);

// `absent` are ranks without a capture.
std::vector<profile::Rank> job_ranks(std::vector<RankPart>&& parts, RankComparison&& comparison,
                                     const std::vector<RankIdentity>& absent);

}  // namespace llmprof::job::result
