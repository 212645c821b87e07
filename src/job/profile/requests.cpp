#include <algorithm>
#include <map>
#include <optional>

#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

// The job's steps of one rank's steps.
class StepsOfJob {
 public:
  StepsOfJob(const Ranks& ranks, size_t part) {
    for (size_t i = 0; i < ranks.comparison.steps.size(); ++i) {
      const auto row = ranks.comparison.steps[i].row[part];
      if (row != kNoRow) of_job_.emplace(row, i);
    }
  }

  // None if not all ranks have the step.
  [[nodiscard]] std::optional<uint64_t> of(uint64_t step) const {
    const auto known = of_job_.find(step);
    return known == of_job_.end() ? std::nullopt : std::optional<uint64_t>(known->second);
  }

  // A batch keeps the steps that all ranks have.
  void rename(profile::RequestBatch& batch) const {
    const uint64_t end = batch.first_step + batch.steps;
    const uint64_t first = batch.first_step;
    batch.first_step = 0;
    batch.steps = 0;
    for (uint64_t step = first; step < end; ++step) {
      const auto own = of(step);
      if (!own) continue;
      if (batch.steps == 0) batch.first_step = *own;
      ++batch.steps;
    }
  }

 private:
  std::map<uint64_t, uint64_t> of_job_;
};

// From the rank's clock to the job's.
void move_to(const profile::RankClock& clock, profile::Requests& requests) {
  const auto move = [&](profile::Milliseconds& time) {
    time = profile::to_milliseconds(job_time(clock, exact(time)));
  };
  const auto move_known = [&](std::optional<profile::Milliseconds>& time) {
    if (time) move(*time);
  };
  for (profile::Request& request : requests.items) {
    move_known(request.scheduled);
    move_known(request.sent);
  }
  for (profile::RequestGap& gap : requests.slowest_gaps) move(gap.start);
  for (profile::RequestBatch& batch : requests.batches) {
    move(batch.start);
    move(batch.end);
    move(batch.results);
  }
}

}  // namespace

// All ranks work on the client's requests. Those of the first rank that could join them to its own
// steps are the job's; their steps become the job's steps.
void merge(Topic<"requests"> /*topic*/, const Ranks& ranks, profile::Profile& profile) {
  const auto has = [](const RankPart& part) { return part.profile.requests.has_value(); };
  const auto joined = [&](const RankPart& part) {
    return has(part) && part.profile.requests->join.state == profile::JoinState::joined;
  };
  auto from = std::ranges::find_if(ranks.parts, joined);
  if (from == ranks.parts.end()) from = std::ranges::find_if(ranks.parts, has);
  if (from == ranks.parts.end()) return;
  profile.requests = from->profile.requests;
  const auto part = static_cast<size_t>(from - ranks.parts.begin());
  const StepsOfJob steps(ranks, part);
  for (profile::RequestBatch& batch : profile.requests->batches) steps.rename(batch);
  for (profile::RequestGap& gap : profile.requests->slowest_gaps) {
    if (gap.step) gap.step = steps.of(*gap.step);
  }
  move_to(ranks.comparison.clocks[part], *profile.requests);
}

}  // namespace llmprof::job::result
