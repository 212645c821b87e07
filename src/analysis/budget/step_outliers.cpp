#include "analysis/budget/slow_steps.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace llmprof::analysis {
namespace {

constexpr size_t kFewestSteps = 4;       // fewer have no useful median
constexpr double kClearShare = 0.05;     // above the median
constexpr Nanoseconds kClearSpread = 3;  // times the median deviation of the faster half
constexpr double kSameMode = 0.67;       // of the median
constexpr size_t kFewestUnlike = 3;
constexpr Nanoseconds kUnlikeTimes = 2;  // times the median, if few steps are comparable
constexpr uint64_t kMoreTokens = 2;      // times as many

uint32_t stage_of(const Stages& stages, const Step& step) {
  return stages.instances[step.instance.index()].stage;
}

// Equal for comparable steps.
auto likeness_key(const Stages& stages, uint32_t row) {
  const Step& step = stages.steps[row];
  return std::make_tuple(stage_of(stages, step), step.kind, step.batch, step.tokens);
}

// Steps with a known wall time, grouped with comparable ones and sorted by wall time.
std::vector<uint32_t> ordered_steps(const Stages& stages) {
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const InstanceId instance = stages.steps[i].instance;
    if (stages.steps[i].after_untraced) continue;
    if (instance.valid() && !stages.instances[instance.index()].warmup) {
      rows.push_back(static_cast<uint32_t>(i));
    }
  }
  std::ranges::sort(rows, {}, [&](uint32_t row) {
    return std::make_tuple(likeness_key(stages, row), stages.steps[row].wall(), row);
  });
  return rows;
}

using Rows = std::span<const uint32_t>;  // of Stages::steps, comparable, by wall time

uint32_t middle_of(Rows rows) { return rows[median_rank(rows.size())]; }

class Outliers {
 public:
  explicit Outliers(const Stages& stages) : stages_(stages), rows_(ordered_steps(stages)) {
    for (size_t first = 0; first < rows_.size();) {
      size_t end = first + 1;
      const auto key = likeness_key(stages, rows_[first]);
      while (end < rows_.size() && likeness_key(stages, rows_[end]) == key) ++end;
      judge(Rows(rows_).subspan(first, end - first));
      first = end;
    }
    judge_unlike();
  }

  std::vector<StepOutlier> slowest(size_t most) {
    const auto stage = [&](const StepOutlier& outlier) {
      return stage_of(stages_, step(outlier.step.value));
    };
    std::ranges::sort(found_, {}, [&](const StepOutlier& outlier) {
      return std::make_tuple(stage(outlier), -outlier.above_median, outlier.step.value);
    });
    std::vector<StepOutlier> kept;
    for (const StepOutlier& outlier : found_) {
      const bool full = kept.size() >= most && stage(kept[kept.size() - most]) == stage(outlier);
      if (!full) kept.push_back(outlier);
    }
    return kept;
  }

 private:
  [[nodiscard]] const Step& step(uint32_t row) const { return stages_.steps[row]; }

  void judge(Rows rows) {
    if (rows.size() < kFewestSteps) {
      unlike_.insert(unlike_.end(), rows.begin(), rows.end());
      return;
    }
    const Nanoseconds median = step(middle_of(rows)).wall();
    const Nanoseconds spread = spread_of_faster(rows.first((rows.size() + 1) / 2), median);
    for (const uint32_t row : rows) {
      const Nanoseconds above = step(row).wall() - median;
      const bool clear = static_cast<double>(above) > kClearShare * static_cast<double>(median) &&
                         above > kClearSpread * spread;
      if (clear) found_.push_back({StepId(row), above, reference_for(row, rows)});
    }
  }

  // Of the faster half only, so that slow steps do not hide themselves. Steps of another mode, far
  // below the median, do not count: they say nothing about the spread around it.
  [[nodiscard]] Nanoseconds spread_of_faster(Rows rows, Nanoseconds median) const {
    std::vector<Nanoseconds> apart;
    for (const uint32_t row : rows) {
      const Nanoseconds wall = step(row).wall();
      if (static_cast<double>(wall) >= kSameMode * static_cast<double>(median)) {
        apart.push_back(median - wall);
      }
    }
    return llmprof::median(std::span(apart));
  }

  // Groups steps by stage and kind if few are comparable, as in an engine whose batch changes.
  void judge_unlike() {
    const auto kind_of = [&](uint32_t row) {
      return std::pair(stage_of(stages_, step(row)), step(row).kind);
    };
    for (size_t i = 0; i < unlike_.size();) {
      size_t end = i + 1;
      while (end < unlike_.size() && kind_of(unlike_[i]) == kind_of(unlike_[end])) ++end;
      judge_pool(std::span(unlike_).subspan(i, end - i));
      i = end;
    }
  }

  void judge_pool(std::span<uint32_t> rows) {
    if (rows.size() < kFewestUnlike) return;
    std::ranges::sort(rows, {}, [&](uint32_t row) { return step(row).wall(); });
    const uint32_t middle = middle_of(rows);
    const Nanoseconds median = step(middle).wall();
    for (const uint32_t row : rows) {
      const Nanoseconds above = step(row).wall() - median;
      if (above > (kUnlikeTimes - 1) * median && !has_more_tokens(row, middle)) {
        found_.push_back({StepId(row), above, StepId(middle)});
      }
    }
  }

  // More tokens already explain a longer time.
  [[nodiscard]] bool has_more_tokens(uint32_t row, uint32_t than) const {
    const Step& usual = step(than);
    return step(row).kind != StepKind::decode && step(row).tokens && usual.tokens &&
           *step(row).tokens > kMoreTokens * *usual.tokens;
  }

  // The median of steps with as many kernels, or of the whole group if there are too few.
  [[nodiscard]] StepId reference_for(uint32_t slow, Rows rows) const {
    std::vector<uint32_t> same;
    for (const uint32_t row : rows) {
      if (step(row).work.kernel_count == step(slow).work.kernel_count) same.push_back(row);
    }
    return StepId(middle_of(same.size() < kFewestSteps ? rows : Rows(same)));
  }

  const Stages& stages_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> unlike_;  // by stage and kind
  std::vector<StepOutlier> found_;
};

}  // namespace

std::vector<StepOutlier> step_outliers(const Stages& stages, size_t most) {
  return Outliers(stages).slowest(most);
}

profile::Reasons slow_step_rule() {
  profile::FindingValues values;
  values.add("share_above_median", profile::Share{kClearShare})
      .add("deviations_above_median", kClearSpread)
      .add("comparable_steps", kFewestSteps)
      .add("times_the_median", kUnlikeTimes);
  return {make_reason(profile::ReasonKind::slow_step_rule, values)};
}

}  // namespace llmprof::analysis
