#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "job/between.h"
#include "job/rank_part.h"
#include "profile/profile.h"

// The job's profile, one theme a file. Statistics are of the job's own instances and steps; what
// the ranks have in common in them (busy times, kernels, budgets) is the mean of the ranks.
namespace llmprof::job::result {

// What the profile is made of; parts and `between` are in the same order, by rank.
struct Ranks {
  const std::vector<RankPart>& parts;
  const Between& between;
};

// The stage of that name of one rank; null without one.
const profile::Stage* stage_of(const RankPart& part, std::string_view name);

// Time of a rank in a step or instance of the job before it began and after it ended: others were
// still at work. The second name is a CPU's, which has no idle time.
inline constexpr std::string_view kWaitingPart = "idle: waiting for the slowest rank";
inline constexpr std::string_view kCpuWaitingPart = "waiting for the slowest rank";

// Ranks that each have tokens of their own: those of a group of data parallelism; else the first.
std::vector<size_t> token_owners(const Ranks& ranks);
// GPUs that share the FLOPs of each pass, where the job shows it and nobody said so in advance.
double untold_sharing(const Ranks& ranks);

std::vector<profile::Stage> job_stages(const Ranks& ranks);
std::vector<profile::Step> job_steps(const Ranks& ranks);
profile::TokenTimes job_token_times(const Ranks& ranks, const profile::Profile& profile);
std::vector<profile::Finding> job_findings(const Ranks& ranks);

profile::Context job_context(const Ranks& ranks);
profile::Totals job_totals(const Ranks& ranks);
std::optional<profile::Coverage> job_coverage(const Ranks& ranks);
std::vector<profile::StageNote> job_stage_notes(const Ranks& ranks);
std::vector<profile::DeviceTime> job_device_time(const Ranks& ranks);
std::vector<profile::Copies> job_copies(const Ranks& ranks);
std::vector<profile::Diagnostic> job_diagnostics(const Ranks& ranks);
std::vector<profile::CaptureFailure> job_captures_failed(const Ranks& ranks);

// The same kernel has one short name on all ranks, different ones have different ones, as in the
// analysis of one rank.
void make_short_names_unique(std::vector<RankPart>& parts);

// Kernels, classes, their longest, and the roofline, which are told of all ranks together.
void add_kernels(const Ranks& ranks, profile::Profile& profile);
void add_operators(const Ranks& ranks, profile::Profile& profile);
std::vector<profile::KernelSequence> job_sequences(const Ranks& ranks);

// `absent` are ranks without a capture.
std::vector<profile::Rank> job_ranks(std::vector<RankPart>&& parts, Between&& between,
                                     const std::vector<RankIdentity>& absent);

}  // namespace llmprof::job::result
