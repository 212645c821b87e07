#include "job/compare/job_identity.h"

#include <algorithm>
#include <set>

namespace llmprof::job {

profile::Job identify_job(const std::vector<RankPart>& parts) {
  profile::Job job;
  std::set<uint64_t> recorded;
  std::set<std::string> hosts;
  for (const RankPart& part : parts) {
    const RankIdentity& who = part.identity;
    if (!who.job.empty() && !job.id) job.id = who.job;
    job.world_size = std::max({job.world_size, who.world_size.value_or(0), who.rank + 1});
    if (who.state == "missing") continue;
    recorded.insert(who.rank);
    if (who.state == "died") job.died.push_back(who.rank);
    if (!who.host.empty()) hosts.insert(who.host);
  }
  job.recorded = recorded.size();
  job.hosts = hosts.size();  // 0 where no capture tells
  // No list of what lies beyond any machine: a wrong number in a capture must not fill memory.
  constexpr uint64_t kMostRanks = 1'000'000;
  for (uint64_t rank = 0; rank < std::min(job.world_size, kMostRanks); ++rank) {
    if (!recorded.contains(rank)) job.missing.push_back(rank);
  }
  std::sort(job.died.begin(), job.died.end());
  job.lower_bound = !job.missing.empty();
  return job;
}

}  // namespace llmprof::job
