#include <algorithm>

#include "query/described/profile_tables.h"

namespace llmprof::query {
namespace {

using profile::Profile;

std::optional<std::string> lack_of_job(const Profile& profile, size_t /*rows*/) {
  if (profile.job) return std::nullopt;
  return "this run is not a distributed job, or only one rank of it was read. Record all ranks: "
         "`llmprof run -- torchrun ...` (docs/cluster.md), or analyze their captures together: "
         "`llmprof analyze FOLDER --out RUN`";
}

}  // namespace

std::vector<DescribedTable> job_tables() {
  return {
      {.name = "job", .meaning = "a distributed job: one row", .path = "job", .lack = lack_of_job},
      {.name = "ranks", .meaning = "ranks of a job", .path = "ranks", .lack = lack_of_job},
      {.name = "rank_times",
       .meaning = "where each rank's time went per step of the job: compute, transfer, wait, idle",
       .path = "ranks.between",
       .keys = {"rank=rank"},
       .lack = lack_of_job},
      {.name = "rank_stages",
       .meaning = "stages of each rank by itself, as in stages",
       .path = "ranks.stages",
       .keys = {"rank=rank"},
       .lack = lack_of_job},
      {.name = "rank_steps",
       .meaning = "steps of each rank by itself, as in steps",
       .path = "ranks.steps",
       .keys = {"rank=rank", "step"},
       .lack = lack_of_job},
      {.name = "collectives",
       .meaning = "collectives of one group, kind and size in one stage, matched across ranks",
       .path = "job.collectives",
       .lack = lack_of_job},
      {.name = "rank_groups",
       .meaning = "groups of ranks that communicate",
       .path = "job.groups",
       .lack = lack_of_job},
      {.name = "stragglers",
       .meaning = "ranks that others wait for, longest wait first",
       .path = "job.stragglers",
       .lack = lack_of_job},
  };
}

std::vector<Table> profile_tables() {
  std::vector<DescribedTable> all;
  for (const auto& tables : {run_tables(), stage_tables(), kernel_tables(), request_tables(),
                             memory_tables(), job_tables()}) {
    all.insert(all.end(), tables.begin(), tables.end());
  }
  const auto remaining = remaining_lists(all);
  all.insert(all.end(), remaining.begin(), remaining.end());
  std::vector<Table> tables;
  tables.reserve(all.size() + 1);
  for (const DescribedTable& described : all) tables.push_back(table_of(described));
  const auto requests = std::ranges::find(tables, "request_totals", &Table::name);
  tables.insert(requests, tokens_table());
  return tables;
}

}  // namespace llmprof::query
