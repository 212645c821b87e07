#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "analysis/shown/shown.h"
#include "job/profile/amounts.h"
#include "job/profile/parts.h"
#include "job/rank_comparison.h"

namespace llmprof::job {
namespace {

std::string captures_of(const RankPart& part) {
  const auto& captures = part.profile.context.captures;
  const auto paths = captures | std::views::transform(&profile::Capture::path);
  return captures.empty() ? "no capture" : fmt::format("{}", fmt::join(paths, ", "));
}

Result<void> check_parts(const std::vector<RankPart>& parts) {
  const RankPart* of_job = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    const RankIdentity& who = parts[i].identity;
    if (i > 0 && parts[i - 1].identity.rank == who.rank) {
      return fail_input(fmt::format(
          "rank {} was given twice: {}; {}: name the captures of one run, and each rank once",
          who.rank, captures_of(parts[i - 1]), captures_of(parts[i])));
    }
    if (who.job.empty()) continue;
    if (of_job != nullptr && of_job->identity.job != who.job) {
      return fail_input(fmt::format(
          "ranks {} and {} belong to different jobs, {} and {}: name the captures of one job",
          of_job->identity.rank, who.rank, of_job->identity.job, who.job));
    }
    of_job = &parts[i];
  }
  return {};
}

bool is_recorded(const RankPart& part) { return !part.profile.context.captures.empty(); }

// Options of the ranks, equal on all of them. 1 is the default and means unset.
ParallelismOptions options_of(const profile::Workload& workload) {
  const auto unless_one = [](uint64_t count) {
    return count > 1 ? std::optional(count) : std::nullopt;
  };
  return {unless_one(workload.tp), unless_one(workload.pp), unless_one(workload.ep)};
}

void add_absent(const std::vector<RankIdentity>& absent, profile::Job& job) {
  for (const RankIdentity& who : absent) {
    const auto insert = [&](std::vector<uint64_t>& ranks) {
      const auto place = std::ranges::lower_bound(ranks, who.rank);
      if (place == ranks.end() || *place != who.rank) ranks.insert(place, who.rank);
    };
    insert(job.missing);
    if (who.state == profile::RankState::died) insert(job.died);
    job.world_size = std::max({job.world_size, who.rank + 1, who.world_size.value_or(0)});
  }
  if (!absent.empty()) job.lower_bound = true;
}

void add_lost_ranks(const std::vector<RankPart>& parts, const std::vector<RankIdentity>& absent,
                    std::vector<Diagnostic>& diagnostics) {
  const auto detail = [](const RankIdentity& who) {
    return who.state_detail.empty() ? std::string() : ": " + who.state_detail;
  };
  for (const RankPart& part : parts) {
    if (part.identity.state != profile::RankState::died) continue;
    diagnostics.push_back(
        {Severity::warning, "rank_died",
         fmt::format("rank {} ended before the program did{}; its recording until then is reported",
                     part.identity.rank, detail(part.identity)),
         1});
  }
  for (const RankIdentity& who : absent) {
    diagnostics.push_back({Severity::warning,
                           who.state == profile::RankState::died ? "rank_died" : "rank_missing",
                           fmt::format("rank {} was not recorded{}", who.rank, detail(who)), 1});
  }
}

profile::Profile profile_of(const result::Ranks& ranks, std::string_view tool_version) {
  using profile::OfJob;
  const profile::Profile& first = ranks.parts.front().profile;
  profile::Profile job;
  job.tool.version = tool_version;
  profile::each_topic([&](auto row, auto... members) {
    if constexpr (row.kOfJob == OfJob::first_rank) ((job.*members = first.*members), ...);
    if constexpr (row.kOfJob == OfJob::all_ranks) {
      for (const RankPart& part : ranks.parts) {
        (result::add_rows(part.identity.rank, part.profile.*members, job.*members), ...);
      }
    }
    if constexpr (row.kOfJob == OfJob::merged) merge(row.kTopic, ranks, job);
  });
  return job;
}

}  // namespace

// Compares the workload's own times with the job's stages instead of one rank's.
void result::merge(Topic<"workload's own times"> /*topic*/, const Ranks& ranks,
                   profile::Profile& job) {
  job.stage1 = ranks.parts.front().profile.stage1;
  if (!job.stage1) return;
  for (profile::Stage1Stage& row : job.stage1->stages) {
    row.captured_mean.reset();
    row.captured_over_stage1.reset();
    for (const profile::Stage& stage : job.stages) {
      if (stage.name != row.name || !stage.wall.mean) continue;
      row.captured_mean = stage.wall.mean;
      if (row.mean && row.mean->value > 0) {
        row.captured_over_stage1 = stage.wall.mean->value / row.mean->value;
      }
    }
  }
}

Result<profile::Profile> merge_ranks(std::vector<RankPart> parts, const Links& links,
                                     std::string_view tool_version) {
  std::ranges::stable_sort(parts, {}, [](const RankPart& part) { return part.identity.rank; });
  if (auto fit = check_parts(parts); !fit) return fail_with(fit.error());
  const auto first_absent = std::stable_partition(parts.begin(), parts.end(), is_recorded);
  std::vector<RankIdentity> absent;
  for (auto part = first_absent; part != parts.end(); ++part) {
    absent.push_back(std::move(part->identity));
  }
  parts.erase(first_absent, parts.end());
  if (parts.empty()) {
    std::string message = "no rank of the job was recorded";
    for (const RankIdentity& who : absent) {
      message += fmt::format(
          "\n  rank {}: {}", who.rank,
          who.state_detail.empty() ? std::string(to_string(who.state)) : who.state_detail);
    }
    return fail_input(message);
  }
  result::make_short_names_unique(parts);
  RankComparison comparison =
      compare_ranks(parts, links, options_of(parts.front().profile.workload));
  add_absent(absent, comparison.job);
  profile::Profile profile = profile_of({parts, comparison}, tool_version);
  add_lost_ranks(parts, absent, profile.diagnostics);
  profile.job = std::move(comparison.job);
  profile.ranks = result::job_ranks(std::move(parts), std::move(comparison), absent);
  analysis::add_shown(profile);
  return profile;
}

}  // namespace llmprof::job
