#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/packed/packed.h"
#include "profile/profile.h"

namespace llmprof::job {

// A rank's identity, according to its captures and the launcher.
struct RankIdentity {
  uint64_t rank = 0;
  std::optional<uint64_t> local_rank;
  std::optional<uint64_t> world_size;
  std::string host;                          // empty if unknown
  std::string job;                           // the launcher's id; empty if unknown
  std::string clock_domain;                  // ranks of one domain read one clock
  std::optional<Nanoseconds> clock_ns;       // that clock at the rank's time 0
  std::optional<Nanoseconds> wall_clock_ns;  // Unix time at the rank's time 0
  profile::RankState state = profile::RankState::recorded;
  std::string state_detail;

  void fields(auto& field) const {
    field("rank", rank, "among all of the job");
    field("local_rank", local_rank, "on its host");
    field("world_size", world_size, "ranks of the job");
    field("host", host, "empty where unknown");
    field("job", job, "the launcher's id; empty where unknown");
    field("clock_domain", clock_domain, "ranks of one domain read one clock");
    field("clock_ns", clock_ns, "what that clock showed at the rank's time 0");
    field("wall_clock_ns", wall_clock_ns, "Unix time there");
    field("state", state, "as of a rank of the job");
    field("state_detail", state_detail, "how it died, or why it is missing");
  }
};

// One rank's input to a job's profile: its own profile and its collectives. `analyze --partial`
// writes it; a job analyzed in one process uses the same.
struct RankPart {
  RankIdentity identity;
  profile::Profile profile;  // this rank only, without its steps
  PackedSteps steps;         // of that profile
  PackedCollectives collectives;
  std::vector<Nanoseconds> step_start;  // of steps, exact, on the rank's clock
  std::vector<Nanoseconds> step_end;
};

class Links;  // job/links/links.h

// The job's profile, independent of the order of its parts. A part whose profile has no captures is
// a rank that was not recorded. It is an error if two parts have the same rank or different jobs,
// or if no rank was recorded. Defined in job/profile.
Result<profile::Profile> merge_ranks(std::vector<RankPart> parts, const Links& links,
                                     std::string_view tool_version);

}  // namespace llmprof::job
