#include "job/between.h"
#include "job/clock/align_clocks.h"
#include "job/compare/job_identity.h"
#include "job/links/links.h"
#include "job/steps/job_steps.h"

namespace llmprof::job {

Between compare_ranks(const std::vector<RankPart>& parts, const Links& /*links*/,
                      const Told& /*told*/) {
  Between between;
  between.job = identify_job(parts);
  between.clocks = align_clocks(parts, {});
  JobSteps steps = make_job_steps(parts, between.clocks, {});
  between.instances = std::move(steps.instances);
  between.steps = std::move(steps.steps);
  between.job.steps_matched = steps.matched;
  between.job.steps_unmatched = steps.unmatched;
  between.per_rank.resize(parts.size());
  return between;
}

}  // namespace llmprof::job
