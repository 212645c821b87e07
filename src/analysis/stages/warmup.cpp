#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "analysis/stages/measure_stages.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// One prefill and the decode after it, on one GPU: rows of Stages::instances.
using Request = std::vector<uint32_t>;

// What is compared of an instance, or of several together.
struct InstanceSample {
  uint32_t row = 0;  // of Stages::instances, the first one
  uint32_t stage = 0;
  Nanoseconds took = 0;
  std::optional<Nanoseconds> work{};  // GPU time; none: not compared
  uint32_t steps = 0;                 // 0: not compared
};
// In order; samples of one row belong together (a request). A row is compared with later ones.
using SampleSeries = std::vector<std::vector<InstanceSample>>;

bool alike(Nanoseconds a, Nanoseconds b) {
  return as_double(std::max(a, b)) <= as_double(std::min(a, b)) * threshold::kClearlyLonger;
}

bool comparable(const InstanceSample& first, const InstanceSample& other) {
  return other.steps == first.steps && (!first.work || !other.work || *other.work >= *first.work ||
                                        alike(*other.work, *first.work));
}

// A warm-up has fewer steps than most later samples, which have equally many.
bool has_fewer_steps(const InstanceSample& first, const std::vector<InstanceSample>& rest) {
  std::vector<Nanoseconds> counts;
  counts.reserve(rest.size());
  for (const InstanceSample& other : rest) counts.push_back(other.steps);
  const Nanoseconds usual = median(counts);
  const auto as_usual = static_cast<size_t>(std::ranges::count(counts, usual));
  return first.steps > 0 && first.steps < usual && as_usual * 2 > counts.size() &&
         (rest.size() > 1 || first.steps <= usual / 2);
}

// How long a sample like the rest may take, by their median and spread; none if unknown. If most
// agree: a little more than their median, or than the longest one if they hardly differ. Otherwise
// a multiple of nearly all that have as much work. On a shared machine, any sample may take a
// little longer: what is no program's first (`once`) is only held against the multiple.
std::optional<double> longest_normal(const InstanceSample& first,
                                     const std::vector<InstanceSample>& rest, bool once) {
  std::vector<Nanoseconds> of_steps;  // those with as many steps
  std::vector<Nanoseconds> of_work;   // of these, those with as much work
  for (const InstanceSample& other : rest) {
    if (other.steps == first.steps) of_steps.push_back(other.took);
    if (comparable(first, other)) of_work.push_back(other.took);
  }
  if (of_steps.size() > 1 && once) {
    const Nanoseconds usual = median(of_steps);
    const auto agreeing = static_cast<size_t>(
        std::ranges::count_if(of_steps, [&](Nanoseconds took) { return alike(took, usual); }));
    const auto [least, most] = std::ranges::minmax(of_steps);
    const double spread = std::max(as_double(most) * threshold::kMeasurable,
                                   as_double(most - least) * threshold::kFarMore);
    if (agreeing >= threshold::two_thirds_of(rest.size())) {
      return std::min(as_double(usual) * threshold::kClearlyLonger, as_double(most) + spread);
    }
  }
  if (of_work.empty() || (rest.size() == 1 && !once)) return std::nullopt;
  if (rest.size() == 1 && first.work) return as_double(of_work[0]) * threshold::kClearlyLonger;
  return as_double(nearest_rank(std::span(of_work), threshold::kAlmostAll)) *
         threshold::kClearlyMore;
}

// A request starts where the first request's first stage recurs.
std::vector<Request> requests_of(const Stages& stages, std::span<const uint32_t> rows) {
  std::vector<Request> requests;
  for (const uint32_t row : rows) {
    const bool begins = stages.instances[row].stage == stages.instances[rows.front()].stage;
    if (requests.empty() || begins) requests.emplace_back();
    requests.back().push_back(row);
  }
  return requests;
}

class WarmupSearch {
 public:
  WarmupSearch(const trace::Trace& trace, Stages& stages) : trace_(trace), stages_(stages) {}

  std::set<WarmupReason> reasons;
  std::vector<std::string> only;  // the only steps of their kind, which are kept

  // `rows`: of one GPU.
  void look_at_requests(std::span<const uint32_t> rows) {
    SampleSeries series;
    for (const Request& request : requests_of(stages_, rows)) {
      std::vector<InstanceSample>& samples = series.emplace_back();
      for (const uint32_t row : request) {
        samples.push_back(
            {row, at(row).stage, at(row).wall(), at(row).work.busy, at(row).all_steps()});
      }
    }
    exclude_before_first_normal(series, WarmupReason::longer);
    look_at_leading_steps(rows);
  }

  void look_at_engine_steps(std::span<const uint32_t> rows) {
    look_before_pause(rows);
    const Nanoseconds usual = median(walls_of(rows));
    for (uint32_t stage = 0; stage < stages_.stages.size(); ++stage) {
      // Batches vary: only steps with as much work as the first are compared with it.
      SampleSeries series;
      size_t of_kind = 0;
      for (const uint32_t row : rows) {
        if (at(row).stage != stage || at(row).warmup) continue;
        const InstanceSample sample{row, stage, at(row).wall(), at(row).work.busy};
        if (of_kind++ == 0 || comparable(series[0][0], sample)) series.push_back({sample});
      }
      exclude_before_first_normal(series, WarmupReason::first_of_kind);
      if (of_kind == 1 && rows.size() > 1) report_only_one(at(series[0][0].row), usual);
    }
  }

  // At least half as many launches as kernels ran nothing: they were captured into a graph.
  bool captures_graph(const StageInstance& instance) {
    if (!captured_) captured_ = captured_launches(trace_);
    const auto inside = std::ranges::lower_bound(*captured_, instance.end) -
                        std::ranges::lower_bound(*captured_, instance.start);
    return inside > 0 && 2 * static_cast<uint64_t>(inside) >= instance.work.kernel_count;
  }

 private:
  // Starts of launch calls without GPU work, in order: most are captured into a graph.
  static std::vector<Nanoseconds> captured_launches(const trace::Trace& trace) {
    std::vector<bool> worked(trace.launches.size(), false);
    for (const auto* rows :
         {&trace.kernels.launch, &trace.memory_operations.launch, &trace.graph_replays.launch}) {
      for (const trace::LaunchRow row : *rows) {
        if (row.valid()) worked[row.index()] = true;
      }
    }
    std::vector<Nanoseconds> starts;
    for (size_t i = 0; i < worked.size(); ++i) {
      if (worked[i] || trace.api_kind(trace.launches.api[i]) != trace::ApiKind::launch) continue;
      starts.push_back(trace.launches.start[i]);
    }
    std::ranges::sort(starts);
    return starts;
  }

  [[nodiscard]] StageInstance& at(uint32_t row) const { return stages_.instances[row]; }

  [[nodiscard]] std::vector<Nanoseconds> walls_of(std::span<const uint32_t> rows) const {
    std::vector<Nanoseconds> walls;
    for (const uint32_t row : rows) walls.push_back(at(row).wall());
    return walls;
  }

  void set_apart(uint32_t row, WarmupReason reason) {
    at(row).warmup = true;
    at(row).why_warmup = reason;
    reasons.insert(reason);
  }

  // Samples of the stage in later rows.
  static std::vector<InstanceSample> rest_of(const SampleSeries& series, size_t row,
                                             uint32_t stage) {
    std::vector<InstanceSample> rest;
    for (const std::vector<InstanceSample>& later : std::span(series).subspan(row + 1)) {
      std::ranges::copy_if(later, std::back_inserter(rest),
                           [&](const InstanceSample& sample) { return sample.stage == stage; });
    }
    return rest;
  }

  // Why a row is not like the later ones. `longer`: the reason if it took longer.
  std::optional<WarmupReason> differs(const SampleSeries& series, size_t row, WarmupReason longer) {
    for (const InstanceSample& sample : series[row]) {
      const std::vector<InstanceSample> rest = rest_of(series, row, sample.stage);
      if (rest.empty()) continue;
      if (has_fewer_steps(sample, rest)) return WarmupReason::fewer_steps;
      // After the first, only what compiles, captures or tunes again.
      const bool once = row == 0 || captures_graph(at(sample.row));
      const auto limit = longest_normal(sample, rest, once);
      if (limit && as_double(sample.took) > *limit) return longer;
    }
    return std::nullopt;
  }

  // Change-point test: sets apart all rows before the first one from which on the series is
  // homogeneous, and returns that one. A stage's last sample is kept.
  size_t exclude_before_first_normal(const SampleSeries& series, WarmupReason longer) {
    for (size_t row = 0; row + 1 < series.size(); ++row) {
      const auto reason = differs(series, row, longer);
      if (!reason) return row;
      for (const InstanceSample& sample : series[row]) {
        if (!rest_of(series, row, sample.stage).empty()) set_apart(sample.row, *reason);
      }
    }
    return series.empty() ? 0 : series.size() - 1;
  }

  // One or two decode steps directly before the decode itself, without a prefill between them: a
  // token that the program generated to warm up.
  void look_at_leading_steps(std::span<const uint32_t> rows) {
    const auto per_step = [&](uint32_t row) {
      return std::vector<InstanceSample>{{row, at(row).stage, at(row).wall() / at(row).step_count}};
    };
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      const StageInstance& lead = at(rows[i]);
      const StageInstance& decode = at(rows[i + 1]);
      const bool few = lead.step_count > 0 && lead.step_count <= threshold::kLeadingSteps &&
                       decode.step_count >= threshold::kMany;
      if (lead.stage != decode.stage || lead.warmup || !few) continue;
      exclude_before_first_normal({per_step(rows[i]), per_step(rows[i + 1])},
                                  WarmupReason::leading_steps);
    }
  }

  // An engine's first steps, at most a quarter, are excluded if a long pause follows them.
  void look_before_pause(std::span<const uint32_t> rows) {
    const Nanoseconds usual = median(walls_of(rows));
    for (size_t leading = 1; leading <= rows.size() / threshold::kQuarter; ++leading) {
      const Nanoseconds pause = at(rows[leading]).start - at(rows[leading - 1]).end;
      if (pause <= usual * threshold::kPaused) continue;
      const SampleSeries series = {{{rows[0], 0, median(walls_of(rows.first(leading)))}},
                                   {{rows[leading], 0, median(walls_of(rows.subspan(leading)))}}};
      if (exclude_before_first_normal(series, WarmupReason::before_pause) == 0) return;
      for (const uint32_t row : rows.first(leading)) set_apart(row, WarmupReason::before_pause);
      return;
    }
  }

  void report_only_one(const StageInstance& step, Nanoseconds usual) {
    if (step.wall() <= threshold::kFarMore * usual) return;
    only.push_back(fmt::format(
        "the only {} step takes {:.3f} ms, the median step of all stages {:.3f} ms: it may contain "
        "work that is done only once; serve one request before recording starts",
        stages_.stages[step.stage].name, as_double(step.wall()) / kNanosecondsPerMillisecond,
        as_double(usual) / kNanosecondsPerMillisecond));
  }

  const trace::Trace& trace_;
  Stages& stages_;
  std::optional<std::vector<Nanoseconds>> captured_;
};

// A range on several GPUs has one instance per GPU: they are excluded together.
void flag_siblings(Stages& stages) {
  std::map<std::tuple<Nanoseconds, trace::ProcessId, uint32_t>, std::optional<WarmupReason>> apart;
  const auto key = [](const StageInstance& instance) {
    return std::tuple(instance.start, instance.process, instance.stage);
  };
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup) apart.try_emplace(key(instance), instance.why_warmup);
  }
  for (StageInstance& instance : stages.instances) {
    const auto sibling = apart.find(key(instance));
    if (instance.warmup || sibling == apart.end()) continue;
    instance.warmup = true;
    instance.why_warmup = sibling->second;
  }
}

size_t count_warmup(const Stages& stages) {
  return static_cast<size_t>(std::ranges::count_if(stages.instances, &StageInstance::warmup));
}

// A stage that has only warm-up keeps it.
void keep_only_ones(Stages& stages) {
  std::vector<bool> has_others(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) has_others[instance.stage] = true;
  }
  for (StageInstance& instance : stages.instances) {
    if (!has_others[instance.stage]) instance.warmup = false;
    instance.why_warmup = instance.warmup ? std::optional(WarmupReason::annotated) : std::nullopt;
  }
}

}  // namespace

void flag_warmup(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  if (count_warmup(stages) > 0) {
    keep_only_ones(stages);
    diagnostics.info("warmup_set_apart",
                     "stage instances inside the program's own warm-up ranges; they are "
                     "excluded from the statistics",
                     count_warmup(stages));
    return;
  }
  std::map<GpuOfProcess, std::vector<uint32_t>> by_gpu;
  for (uint32_t i = 0; i < stages.instances.size(); ++i) {
    if (stages.instances[i].traced_in_part) continue;
    by_gpu[stages.instances[i].gpu()].push_back(i);
  }
  WarmupSearch search(trace, stages);
  for (const auto& [gpu, rows] : by_gpu) {
    if (stages.serving) {
      search.look_at_engine_steps(rows);
    } else {
      search.look_at_requests(rows);
    }
  }
  flag_siblings(stages);
  for (const std::string& text : search.only) diagnostics.info("cold_step_kept", text);
  const size_t count = count_warmup(stages);
  if (count == 0) return;
  size_t captures = 0;
  for (StageInstance& instance : stages.instances) {
    instance.captures_graph = instance.warmup && search.captures_graph(instance);
    if (instance.captures_graph) ++captures;
  }
  std::vector<std::string> reasons;
  reasons.reserve(search.reasons.size() + 1);
  for (const WarmupReason reason : search.reasons) {
    reasons.emplace_back(profile::kWords<WarmupReason>[static_cast<size_t>(reason)].meaning);
  }
  if (captures > 0) {
    reasons.push_back(fmt::format("a CUDA graph is captured in {} of them", captures));
  }
  diagnostics.info("warmup_set_apart",
                   fmt::format("first stage instances that count as warm-up ({}); they are "
                               "excluded from the statistics",
                               fmt::join(reasons, ", ")),
                   count);
}

}  // namespace llmprof::analysis
