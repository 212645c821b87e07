#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "job/rank_comparison.h"
#include "job/rank_part.h"
#include "profile/profile.h"

// The job's profile, one theme a file. Statistics are of the job's own instances and steps; what
// the ranks have in common in them (busy times, kernels, budgets) is the mean of the ranks.
namespace llmprof::job::result {

// What the profile is made of; parts and `between` are in the same order, by rank.
struct Ranks {
  const std::vector<RankPart>& parts;
  const RankComparison& comparison;
};

// Time of a rank in a step or instance of the job before it began and after it ended: others were
// still at work. The second name is a CPU's, which has no idle time.
inline constexpr auto kWaitingPart = profile::TimePart::idle_waiting_for_rank;
inline constexpr auto kCpuWaitingPart = profile::TimePart::waiting_for_rank;

// Ranks that each have tokens of their own: those of a group of data parallelism; else the first.
std::vector<size_t> token_owners(const Ranks& ranks);
// GPUs that share the FLOPs of each pass, where the job shows it and nobody said so in advance.
double untold_sharing(const Ranks& ranks);

std::vector<profile::Step> job_steps(const Ranks& ranks);

// The job's stage without profiling, where the workload timed it by its own clock: what one rank
// timed is the job's, since its ranks run the stage together. `own` are the ranks' stages, null
// where a rank has none; `stage` has its statistics and its budget.
std::optional<profile::Unwatched> unwatched_of_job(const std::vector<const profile::Stage*>& own,
                                                   const profile::Stage& stage);

// What a job has of a topic: into the members of `job`, of which those of earlier topics are there.
using profile::Topic;
void merge(Topic<"failed captures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"captures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"key figures">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"coverage">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"stages">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"stage notes">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"token times">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"workload's own times">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"kernels">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"kernel sequences">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"roofline">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"findings">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"operators">, const Ranks& ranks, profile::Profile& job);
void merge(Topic<"diagnostics">, const Ranks& ranks, profile::Profile& job);

// The same kernel has one short name on all ranks, different ones have different ones, as in the
// analysis of one rank.
void make_short_names_unique(std::vector<RankPart>& parts);

// `absent` are ranks without a capture.
std::vector<profile::Rank> job_ranks(std::vector<RankPart>&& parts, RankComparison&& comparison,
                                     const std::vector<RankIdentity>& absent);

}  // namespace llmprof::job::result
