#include "job/findings/job_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/clock/align_clocks.h"
#include "profile/finding_kinds.h"

namespace llmprof::job {
namespace {

using profile::Finding;
using profile::FindingKind;
using profile::Milliseconds;

constexpr double kWorthNaming = 0.01;  // of the stage's wall time
constexpr double kImbalanced = 1.1;    // the longest rank's expert time over the mean
// Smaller messages are latency-bound and do not measure the link.
constexpr double kLargeMessage = 4.0 * 1024 * 1024;
constexpr double kSlowShareOfPeak = 0.5;
constexpr uint64_t kEnoughCollectives = 8;
constexpr size_t kNamedCollectives = 3;

// A stage of the job, with the figures that findings need.
struct JobStage {
  std::string name;
  double steps = 0;      // counted
  double instances = 0;  // counted
  double wall = 0;       // of these steps, ms
  bool by_step = false;
  std::string unit;
  bool traced_part = false;            // Finding::traced_part
  std::optional<double> tokens;        // per instance
  std::optional<double> decode_steps;  // per instance
};

// Taken from the reference rank's own findings; all ranks serve the same requests.
void set_unit(const profile::Profile& profile, JobStage& stage) {
  stage.unit = profile.stages_found.serving.value_or(false) ? "engine step" : "request";
  for (const Finding& finding : profile.findings) {
    if (finding.stage != stage.name || !finding.unit) continue;
    stage.unit = *finding.unit;
    stage.traced_part = finding.traced_part;
    return;
  }
}

std::vector<JobStage> stages_of(const std::vector<RankPart>& parts,
                                const RankComparison& comparison) {
  std::vector<JobStage> stages;
  if (parts.empty()) return stages;
  const profile::Profile& reference = parts[reference_part(parts)].profile;
  for (const auto& of_rank : comparison.per_rank) {
    for (const profile::RankStage& each : of_rank) {
      if (std::ranges::find(stages, each.stage, &JobStage::name) != stages.end()) continue;
      JobStage& made = stages.emplace_back();
      made.name = each.stage;
      made.steps = static_cast<double>(each.steps);
      made.wall = each.wall.value * made.steps;
    }
  }
  for (JobStage& stage : stages) {
    for (const JobInstance& instance : comparison.instances) {
      if (instance.stage == stage.name && !instance.warmup) stage.instances += 1;
    }
    stage.instances = std::max(stage.instances, 1.0);
    stage.by_step =
        std::ranges::find(comparison.steps, stage.name, &JobStep::stage) != comparison.steps.end();
    set_unit(reference, stage);
    for (const profile::PotentialSavings& each : reference.savings) {
      if (each.stage == stage.name) stage.tokens = each.tokens;
    }
    for (const profile::Stage& each : reference.stages) {
      if (each.name == stage.name && each.decode_step_count > 0) {
        stage.decode_steps = stage.steps / stage.instances;
      }
    }
  }
  return stages;
}

// `total` ms over all counted steps of the stage.
Finding finding_of(FindingKind kind, const JobStage& stage, double total, FindingValues values) {
  Finding made;
  made.kind = kind;
  made.stage = stage.name;
  made.unit = stage.unit;
  made.traced_part = stage.traced_part;
  made.values = std::move(values).take();
  made.total_saving = Milliseconds{total};
  made.saving = Milliseconds{total / stage.instances};
  made.share_of_wall = {stage.wall > 0 ? total / stage.wall : 0};
  if (stage.tokens && *stage.tokens > 0) {
    made.saving_per_token = Milliseconds{made.saving->value / *stage.tokens};
    if (stage.decode_steps && *stage.decode_steps > 0) {
      made.saving_per_output_token = Milliseconds{made.saving->value / *stage.decode_steps};
    }
  }
  return made;
}

class FindingMaker {
 public:
  FindingMaker(const std::vector<RankPart>& parts, const RankComparison& comparison)
      : parts_(parts), comparison_(comparison), stages_(stages_of(parts, comparison)) {}

  std::vector<Finding> make() {
    for (const profile::Straggler& straggler : comparison_.job.stragglers) add_straggler(straggler);
    for (const JobStage& stage : stages_) {
      add_communication(stage);
      add_bubble(stage);
      add_experts(stage);
    }
    for (const profile::JobCollective& collective : comparison_.job.collectives) {
      add_link(collective);
    }
    std::ranges::stable_sort(made_, std::greater{}, &Finding::total_saving);
    return std::move(made_);
  }

 private:
  [[nodiscard]] const JobStage* stage_named(const std::string& name) const {
    const auto found = std::ranges::find(stages_, name, &JobStage::name);
    return found == stages_.end() ? nullptr : &*found;
  }

  void add_straggler(const profile::Straggler& straggler) {
    FindingValues values;
    values.add("rank", straggler.rank)
        .add("cause", to_string(straggler.cause))
        .add("wait_per_step", straggler.wait_per_step)
        .add("wait_total", straggler.wait_total)
        .add("last_share", straggler.last_share)
        .add("ranks", comparison_.job.recorded)
        .add("lower_bound", comparison_.job.lower_bound)
        .add("by_step_time", !straggler.why.empty() && straggler.why.front().kind ==
                                                           profile::ReasonKind::rank_slower_steps)
        .add("why", "");
    const JobStage* stage = stage_named(straggler.stage);
    Finding made;
    if (stage != nullptr) {
      made = finding_of(FindingKind::straggler, *stage,
                        straggler.wait_per_step.value * stage->steps, std::move(values));
    } else {
      made.kind = FindingKind::straggler;
      made.values = std::move(values).take();
      made.total_saving = straggler.wait_per_step;
      made.saving = straggler.wait_per_step;
      made.share_of_wall = straggler.share_of_step.value_or(profile::Share{0});
    }
    made.subject = fmt::format("rank {}", straggler.rank);
    made.rank = straggler.rank;
    made.value_reasons.push_back({made.values.size() - 1, straggler.why});
    made_.push_back(std::move(made));
  }

  // Over all counted steps, averaged over the ranks that have the stage.
  [[nodiscard]] double total_of_ranks(const JobStage& stage,
                                      Milliseconds profile::RankStage::* per_step) const {
    double sum = 0;
    double ranks = 0;
    for (const auto& of_rank : comparison_.per_rank) {
      const profile::RankStage* own = stage_of(of_rank, stage.name);
      if (own == nullptr) continue;
      sum += (own->*per_step).value;
      ranks += 1;
    }
    return ranks > 0 ? sum / ranks * stage.steps : 0;
  }

  void add_communication(const JobStage& stage) {
    const double transfer = total_of_ranks(stage, &profile::RankStage::transfer);
    if (transfer <= 0 || transfer < kWorthNaming * stage.wall) return;
    const double wait = total_of_ranks(stage, &profile::RankStage::wait);
    const double hidden = total_of_ranks(stage, &profile::RankStage::hidden_communication);
    double matched = 0;
    double time = 0;
    FindingValues longest;
    size_t named = 0;
    for (const profile::JobCollective& each : comparison_.job.collectives) {
      if (each.stage != stage.name || each.matched == 0) continue;
      const double own =
          (each.wait_total.value + each.transfer_total.value) / static_cast<double>(each.ranks);
      matched += static_cast<double>(each.matched);
      time += own;
      if (named++ >= kNamedCollectives) continue;
      const std::string name =
          each.bytes ? fmt::format("{} of {:.0f} B ({})", profile::to_string(each.kind),
                                   each.bytes->value, each.group)
                     : fmt::format("{} ({})", profile::to_string(each.kind), each.group);
      longest.add("kernel_time", Milliseconds{own / stage.instances}, name)
          .add("kernel_calls", static_cast<double>(each.matched) / stage.instances, name);
    }
    if (matched == 0) return;
    FindingValues values;
    values.add("communication_time", Milliseconds{(transfer + wait + hidden) / stage.instances})
        .add("kernels_per_pass", matched / stage.steps)
        .add("pass", stage.by_step && stage.decode_steps ? "step" : stage.unit)
        .add("mean_kernel", Milliseconds{time / matched})
        .add_all(longest)
        .add("wait_time", Milliseconds{wait / stage.instances})
        .add("hidden_time", Milliseconds{hidden / stage.instances})
        .add("ranks", comparison_.job.recorded);
    made_.push_back(
        finding_of(FindingKind::exposed_communication, stage, transfer, std::move(values)));
  }

  void add_bubble(const JobStage& stage) {
    const auto share = bubble_share(parts_, comparison_, stage.name);
    if (!share || *share < kWorthNaming) return;
    uint64_t stages = 0;
    for (const profile::RankGroup& group : comparison_.job.groups) {
      if (group.parallelism == profile::Parallelism::pipeline)
        stages = std::max(stages, group.size);
    }
    FindingValues values;
    values.add("bubble_share", profile::Share{*share}).add("pipeline_stages", stages);
    made_.push_back(
        finding_of(FindingKind::pipeline_bubble, stage, *share * stage.wall, std::move(values)));
  }

  void add_experts(const JobStage& stage) {
    const ExpertTimes times = expert_times(parts_, stage.name);
    if (times.imbalance < kImbalanced) return;
    const double longest = times.by_part[times.longest];
    const double saved = longest - longest / times.imbalance;
    if (saved < kWorthNaming * stage.wall) return;
    FindingValues values;
    values.add("imbalance", times.imbalance)
        .add("rank", parts_[times.longest].identity.rank)
        .add("expert_time", Milliseconds{longest / stage.instances});
    made_.push_back(finding_of(FindingKind::expert_imbalance, stage, saved, std::move(values)));
  }

  void add_link(const profile::JobCollective& each) {
    const JobStage* stage = each.stage ? stage_named(*each.stage) : nullptr;
    if (stage == nullptr || each.lower_bound || !each.share_of_peak || !each.bytes) return;
    if (each.bytes->value < kLargeMessage || each.matched < kEnoughCollectives ||
        each.link == profile::LinkKind::memory || each.share_of_peak->value >= kSlowShareOfPeak) {
      return;
    }
    const double time = each.wait_total.value + each.transfer_total.value;
    const double exposed = time > 0 ? each.exposed_total.value / time : 0;
    // Per rank: exposed transfer time beyond what the link needs.
    const double saved = each.transfer_total.value / static_cast<double>(each.ranks) * exposed *
                         (1 - each.share_of_peak->value);
    if (saved < kWorthNaming * stage->wall) return;
    FindingValues values;
    values.add("group", each.group)
        .add("collective", profile::to_string(each.kind))
        .add("message", *each.bytes)
        .add("link", each.link ? to_string(*each.link) : "")
        .add("bandwidth", *each.wire_bandwidth)
        .add("peak_bandwidth", *each.peak_bandwidth)
        .add("share_of_peak", *each.share_of_peak);
    Finding made = finding_of(FindingKind::slow_link, *stage, saved, std::move(values));
    made.subject = fmt::format("{} of {:.0f} B in {}", profile::to_string(each.kind),
                               each.bytes->value, each.group);
    made_.push_back(std::move(made));
  }

  const std::vector<RankPart>& parts_;
  const RankComparison& comparison_;
  std::vector<JobStage> stages_;
  std::vector<Finding> made_;
};

}  // namespace

ExpertTimes expert_times(const std::vector<RankPart>& parts,
                         const std::optional<std::string>& stage) {
  ExpertTimes times;
  times.by_part.assign(parts.size(), 0);
  double sum = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (const profile::Kernel& kernel : parts[part].profile.kernels) {
      if (!kernel.experts) continue;
      if (!stage) {
        times.by_part[part] += kernel.measured ? kernel.measured->total.value : 0;
        continue;
      }
      for (const auto& [name, time] : kernel.stages) {
        if (name == *stage) times.by_part[part] += time.steady_total.value;
      }
    }
    sum += times.by_part[part];
    if (times.by_part[part] > times.by_part[times.longest]) times.longest = part;
  }
  if (sum > 0 && parts.size() > 1) {
    times.imbalance = times.by_part[times.longest] * static_cast<double>(parts.size()) / sum;
  }
  return times;
}

std::optional<double> bubble_share(const std::vector<RankPart>& parts,
                                   const RankComparison& comparison, const std::string& stage) {
  std::vector<std::string> groups;
  std::vector<uint64_t> ranks;
  for (const profile::RankGroup& group : comparison.job.groups) {
    if (group.parallelism != profile::Parallelism::pipeline) continue;
    groups.push_back(group.group);
    ranks.insert(ranks.end(), group.ranks.begin(), group.ranks.end());
  }
  if (groups.empty()) return std::nullopt;
  double idle = 0;
  double wall = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (std::ranges::find(ranks, parts[part].identity.rank) == ranks.end()) continue;
    const profile::RankStage* own = stage_of(comparison.per_rank[part], stage);
    if (own == nullptr) continue;
    idle += own->idle.value * static_cast<double>(own->steps);
    wall += own->wall.value * static_cast<double>(own->steps);
  }
  for (const profile::JobCollective& each : comparison.job.collectives) {
    if (each.stage != stage) continue;
    if (std::ranges::find(groups, each.group) != groups.end()) {
      idle += each.wait_total.value;
    }
  }
  if (wall <= 0) return std::nullopt;
  return std::min(1.0, idle / wall);
}

std::vector<profile::Finding> find_job_findings(const std::vector<RankPart>& parts,
                                                const RankComparison& comparison) {
  return FindingMaker(parts, comparison).make();
}

}  // namespace llmprof::job
