#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/budget/budget.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"
#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using analysis::share;
using analysis::times;
using profile::to_milliseconds;

double sum_of(const std::vector<Nanoseconds>& times) {
  return static_cast<double>(std::accumulate(times.begin(), times.end(), Nanoseconds{0}));
}

// Sums over the ranks of an instance.
struct InstanceSums {
  size_t ranks = 0;
  Nanoseconds gpu_sum = 0;
  Nanoseconds gpu_busy = 0;
  Nanoseconds memory_sum = 0;
  Nanoseconds hidden_graph_sum = 0;
  uint64_t kernel_count = 0;
  NamedTimes<profile::KernelClass> classes;
  NamedTimes<profile::TimePart> budget;
  bool has_budget = false;

  [[nodiscard]] Nanoseconds mean(Nanoseconds sum) const {
    return ranks == 0 ? 0 : sum / static_cast<Nanoseconds>(ranks);
  }
};

// Builds one stage of the job from its ranks.
class StageOfRanks {
 public:
  StageOfRanks(const Ranks& ranks, std::string name)
      : ranks_(ranks),
        on_cpu_(ranks.parts.front().profile.context.device_kind == profile::DeviceKind::cpu) {
    stage_.name = std::move(name);
    for (const RankPart& part : ranks.parts) own_.push_back(find_stage(part.profile, stage_.name));
    const profile::Stage& first =
        **std::ranges::find_if(own_, [](const profile::Stage* own) { return own != nullptr; });
    stage_.source = first.source;
    stage_.evidence = first.evidence;
    stage_.evidence_reasons = first.evidence_reasons;
    for (const profile::Stage* own : own_) {
      if (own == nullptr || !own->budget) continue;
      for (const profile::BudgetPart& part : *own->budget) idle_[part.part] = part.idle;
    }
    idle_[waiting_part()] = true;
    for (const JobInstance& instance : ranks.comparison.instances) {
      if (instance.stage == stage_.name) add(instance);
    }
    count_steps();
    summarize_all();
    add_budget();
    add_utilization(first);
    stage_.untraced = untraced_of_job(own_, stage_);
    if (!stage_.untraced) {
      stage_.untraced_why_not =
          first.untraced_why_not.value_or(profile::NoUntracedTime::no_other_time);
    }
  }

  [[nodiscard]] double wall_total() const { return sum_of(walls_); }
  profile::Stage take() { return std::move(stage_); }

 private:
  [[nodiscard]] profile::TimePart waiting_part() const {
    return on_cpu_ ? kCpuWaitingPart : kWaitingPart;
  }

  void add(const JobInstance& from) {
    const Nanoseconds wall = from.end - from.start;
    profile::Instance& to = stage_.instances.emplace_back();
    to.start = to_milliseconds(from.start);
    to.start_ns = {from.start};
    to.wall = to_milliseconds(wall);
    to.warmup = from.warmup;
    InstanceSums sums;
    Nanoseconds range_end = from.start;
    for (size_t i = 0; i < own_.size(); ++i) {
      if (own_[i] == nullptr || from.row[i] == kNoRow) continue;
      const profile::Instance& own = own_[i]->instances[from.row[i]];
      add_rank(own, wall, sums);
      const Nanoseconds start = job_time(ranks_.comparison.clocks[i], own.start_ns.value);
      range_end = std::max(range_end, start + exact(own.range));
      to.untraced_steps = std::max(to.untraced_steps, own.untraced_steps);
      to.cut_off = to.cut_off || own.cut_off;
      if (own.clocks_lowered) {
        to.clocks_lowered = to.clocks_lowered.value_or(false) || *own.clocks_lowered;
      }
    }
    to.range = to_milliseconds(std::min(range_end, from.end) - from.start);
    to.gpu_sum = to_milliseconds(sums.mean(sums.gpu_sum));
    to.gpu_busy = to_milliseconds(sums.mean(sums.gpu_busy));
    to.memory_sum = to_milliseconds(sums.mean(sums.memory_sum));
    to.hidden_graph_sum = to_milliseconds(sums.mean(sums.hidden_graph_sum));
    if (sums.ranks > 0) {
      to.kernel_count = (sums.kernel_count + sums.ranks / 2) / sums.ranks;
      to.classes = sums.classes.mean(sums.ranks);
      if (sums.has_budget) to.budget = sums.budget.mean(sums.ranks);
    }
    if (from.warmup) return;
    walls_.push_back(wall);
    gpu_sums_.push_back(sums.mean(sums.gpu_sum));
    busy_.push_back(sums.mean(sums.gpu_busy));
    kernel_counts_.push_back(static_cast<Nanoseconds>(to.kernel_count));
  }

  // Adds the rank's own parts and the difference to the job's wall time. If the rank's clock is
  // slower than the job's, its parts may exceed that by parts per million: its longest part is cut.
  void add_rank(const profile::Instance& own, Nanoseconds wall, InstanceSums& sums) {
    ++sums.ranks;
    sums.gpu_sum += exact(own.gpu_sum);
    sums.gpu_busy += std::min(exact(own.gpu_busy), wall);
    sums.memory_sum += exact(own.memory_sum);
    sums.hidden_graph_sum += exact(own.hidden_graph_sum);
    sums.kernel_count += own.kernel_count;
    sums.classes.add(own.classes);
    NamedTimes<profile::TimePart> parts;
    if (own.budget) {
      sums.has_budget = true;
      parts.add(*own.budget);
    } else {
      parts.add(profile::TimePart::unattributed, exact(own.wall));
    }
    const Nanoseconds missing = wall - parts.total();
    if (missing >= 0) {
      parts.add(waiting_part(), missing);
    } else {
      auto longest = std::max_element(
          parts.rows().begin(), parts.rows().end(),
          [](const auto& a, const auto& b) { return a.second.value < b.second.value; });
      longest->second.value += missing;
    }
    sums.budget.add(parts.rows());
  }

  void count_steps() {
    std::vector<Nanoseconds> step_walls;
    for (const JobStep& step : ranks_.comparison.steps) {
      if (step.stage != stage_.name) continue;
      if (step.instance < stage_.instances.size()) ++stage_.instances[step.instance].steps;
      if (step.warmup) continue;
      ++stage_.step_count;
      if (step.kind == profile::StepKind::decode) ++stage_.decode_step_count;
      if (!step.after_untraced) step_walls.push_back(step.end - step.start);
    }
    if (!step_walls.empty()) stage_.step_wall = times(analysis::summarize(std::move(step_walls)));
    stage_.instance_count = stage_.instances.size();
    for (const profile::Instance& instance : stage_.instances) {
      if (instance.warmup) {
        ++stage_.warmup_count;
      } else {
        untraced_steps_ += instance.untraced_steps;
      }
    }
  }

  void summarize_all() {
    stage_.wall = times(analysis::summarize(walls_));
    stage_.gpu_sum = times(analysis::summarize(gpu_sums_));
    stage_.gpu_busy = times(analysis::summarize(busy_));
    stage_.kernel_count = analysis::numbers(analysis::summarize(kernel_counts_));
  }

  void add_budget() {
    NamedTimes<profile::TimePart> totals;
    bool any = false;
    for (const profile::Instance& instance : stage_.instances) {
      any = any || instance.budget;
      if (!instance.warmup && instance.budget) totals.add(*instance.budget);
    }
    if (!any) return;
    std::vector<analysis::PartTotal> rows;
    for (const auto& [part, time] : totals.rows()) {
      rows.push_back({part, time.value, idle_[part]});
    }
    const Nanoseconds not_traced =
        analysis::fill_budget(rows, walls_.size(), untraced_steps_, stage_);
    if (walls_.empty()) return;
    stage_.gpu_busy_share_of_wall =
        share(sum_of(busy_), static_cast<double>(totals.total() - not_traced));
    if (untraced_steps_ == 0 && not_traced == 0) return;
    const uint64_t all = stage_.step_count + untraced_steps_;
    stage_.tracing = {stage_.step_count, all, share(stage_.step_count, all), std::nullopt};
    if (not_traced > 0) {
      stage_.tracing->not_traced =
          to_milliseconds(static_cast<double>(not_traced) / static_cast<double>(walls_.size()));
    }
  }

  // Work and peaks of all recorded ranks together.
  void add_utilization(const profile::Stage& first) {
    stage_.basis_reasons = first.basis_reasons;
    stage_.peak_name = first.peak_name;
    stage_.from_operators = first.from_operators;
    stage_.memory_bound = first.memory_bound;
    stage_.flops_per_byte = first.flops_per_byte;
    stage_.ridge = first.ridge;
    const double sharing = first.from_operators ? 1 : detected_sharing(ranks_);
    const double flops = sum(&profile::Stage::flops, sharing);
    const double bytes = sum(&profile::Stage::bytes, sharing);
    const double peak_flops = sum(&profile::Stage::peak_flops, 1);
    const double peak_bandwidth = sum(&profile::Stage::peak_bandwidth, 1);
    bool known = true;
    bool refused = false;
    for (const profile::Stage* own : own_) {
      if (own == nullptr) continue;
      known = known && own->flops && own->bytes && own->peak_flops && own->peak_bandwidth;
      if (!own->mfu.wall && stage_.why_not_reasons.empty()) {
        stage_.why_not_reasons = own->why_not_reasons;
      }
      refused = refused || !own->mfu.wall;
      add_costs(*own, sharing);
      if (own->floor) {
        const profile::Milliseconds floor{own->floor->value / sharing};
        stage_.floor = std::max(stage_.floor.value_or(floor), floor);
      }
    }
    if (!stage_.wall.mean || stage_.wall.mean->value <= 0) return;
    if (stage_.floor && stage_.floor->value > 0) {
      stage_.wall_over_floor = stage_.wall.mean->value / stage_.floor->value;
    }
    add_recorded(peak_flops, peak_bandwidth);
    // A rank's figure refused for exceeding its peak is valid only if the ranks share the work.
    if (!known || (refused && sharing <= 1)) return;
    stage_.why_not_reasons.clear();
    stage_.mfu = ratios(flops, peak_flops);
    stage_.mbu = ratios(bytes, peak_bandwidth);
  }

  // Over all ranks with a value.
  template <class Quantity>
  double sum(std::optional<Quantity> profile::Stage::* member, double sharing) {
    double total = 0;
    for (const profile::Stage* own : own_) {
      if (own != nullptr && own->*member) total += (own->*member)->value / sharing;
    }
    if (total > 0) stage_.*member = Quantity{total};
    return total;
  }

  void add_costs(const profile::Stage& own, double sharing) {
    for (const profile::CostPart& part : own.cost) {
      auto known = std::ranges::find(stage_.cost, part.part, &profile::CostPart::part);
      if (known == stage_.cost.end()) {
        known = stage_.cost.insert(known, {part.part, {}, {}, {}});
      }
      known->flops.value += part.flops.value / sharing;
      known->weight_bytes.value += part.weight_bytes.value / sharing;
      known->kv_bytes.value += part.kv_bytes.value / sharing;
    }
  }

  void add_recorded(double peak_flops, double peak_bandwidth) {
    profile::RecordedWork sum;
    bool has_mfu = true;
    bool has_mbu = true;
    for (const profile::Stage* own : own_) {
      if (own == nullptr) continue;
      if (!own->recorded) return;
      sum.flops.value += own->recorded->flops.value;
      sum.bytes.value += own->recorded->bytes.value;
      has_mfu = has_mfu && own->recorded->mfu.wall;
      has_mbu = has_mbu && own->recorded->mbu.wall;
    }
    if (!stage_.from_operators && stage_.flops) {
      sum.flops_over_model = share(sum.flops.value, stage_.flops->value);
    }
    if (has_mfu) sum.mfu = ratios(sum.flops.value, peak_flops);
    if (has_mbu) sum.mbu = ratios(sum.bytes.value, peak_bandwidth);
    stage_.recorded = sum;
  }

  // For amounts per instance.
  [[nodiscard]] profile::Ratios ratios(double amount, double peak) const {
    const auto over = [&](const std::optional<profile::Milliseconds>& time) {
      if (!time) return std::optional<profile::Share>();
      return share(amount, peak * time->value / kMillisecondsPerSecond);
    };
    profile::Ratios found;
    found.wall = over(stage_.wall.mean);
    if (!stage_.tracing) found.gpu_busy = over(stage_.gpu_busy.mean);
    return found;
  }

  const Ranks& ranks_;
  bool on_cpu_;
  std::vector<const profile::Stage*> own_;  // by rank part; null if it has none
  std::map<profile::TimePart, bool> idle_;  // by part of the budget
  std::vector<Nanoseconds> walls_;          // of instances without warm-up, as are the others
  std::vector<Nanoseconds> gpu_sums_;
  std::vector<Nanoseconds> busy_;
  std::vector<Nanoseconds> kernel_counts_;
  uint64_t untraced_steps_ = 0;
  profile::Stage stage_;
};

}  // namespace

std::vector<size_t> token_owners(const Ranks& ranks) {
  for (const profile::RankGroup& group : ranks.comparison.job.groups) {
    if (group.parallelism != profile::Parallelism::data) continue;
    std::vector<size_t> owners;
    for (size_t i = 0; i < ranks.parts.size(); ++i) {
      const uint64_t rank = ranks.parts[i].identity.rank;
      if (std::ranges::find(group.ranks, rank) != group.ranks.end()) owners.push_back(i);
    }
    if (!owners.empty() && owners.front() == 0) return owners;
  }
  return {0};
}

double detected_sharing(const Ranks& ranks) {
  const profile::Workload& workload = ranks.parts.front().profile.workload;
  if (workload.tp > 1 || workload.pp > 1 || workload.ep > 1) return 1;
  double sharing = 1;
  for (const auto kind : {profile::Parallelism::tensor, profile::Parallelism::pipeline}) {
    uint64_t size = 1;
    for (const profile::RankGroup& group : ranks.comparison.job.groups) {
      if (group.parallelism == kind) size = std::max(size, group.size);
    }
    sharing *= static_cast<double>(size);
  }
  return sharing;
}

void merge(Topic<"stages"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<std::string> names;  // by first occurrence
  for (const JobInstance& instance : ranks.comparison.instances) {
    if (std::ranges::find(names, instance.stage) == names.end()) {
      names.push_back(instance.stage);
    }
  }
  std::vector<profile::Stage>& stages = job.stages;
  std::vector<double> walls;
  double all = 0;
  for (const std::string& name : names) {
    StageOfRanks stage(ranks, name);
    walls.push_back(stage.wall_total());
    all += walls.back();
    stages.push_back(stage.take());
  }
  for (size_t i = 0; i < stages.size(); ++i) {
    stages[i].share_of_stage_time = share(walls[i], all).value_or(profile::Share{});
  }
  job.steps = job_steps(ranks);
}

}  // namespace llmprof::job::result
