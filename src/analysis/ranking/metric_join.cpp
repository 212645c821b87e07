#include "analysis/ranking/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/naming/kernel_key.h"
#include "analysis/ranking/open_ranges.h"

namespace llmprof::analysis {
namespace {

std::string_view innermost(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

struct Shape {
  uint32_t kernel = 0;
  trace::Extent grid{};
  trace::Extent block{};
  uint32_t range = 0;  // number of the innermost range; 0 is none
  friend bool operator==(const Shape&, const Shape&) = default;
  [[nodiscard]] size_t hash() const {
    size_t seed = trace::hash_mix(kernel, range);
    for (const uint32_t extent : grid) seed = trace::hash_mix(seed, extent);
    for (const uint32_t extent : block) seed = trace::hash_mix(seed, extent);
    return seed;
  }
};

class RangeNumbers {
 public:
  uint32_t of(std::string_view path) {
    if (path.empty()) return 0;
    return numbers_.try_emplace(std::string(innermost(path)), numbers_.size() + 1).first->second;
  }
  // 0, as for no range, if the range was never added.
  [[nodiscard]] uint32_t known(std::string_view path) const {
    const auto found = numbers_.find(std::string(innermost(path)));
    return found == numbers_.end() ? 0 : found->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

// The label of each metric in the rows.
std::vector<std::string> metric_labels(const trace::Trace& trace) {
  std::unordered_map<trace::StringId, size_t> units;
  for (const trace::Metric& metric : trace.metrics.values()) ++units[metric.name];
  std::vector<std::string> labels;
  labels.reserve(trace.metrics.size());
  for (const trace::Metric& metric : trace.metrics.values()) {
    const std::string_view name = trace.strings[metric.name];
    labels.push_back(units[metric.name] == 1
                         ? std::string(name)
                         : metric_name_with_unit(name, trace.strings[metric.unit]));
  }
  return labels;
}

void add(profile::Metric& summary, const trace::MetricValues& values, std::string_view unit) {
  const double sum = summary.mean * static_cast<double>(summary.count) + values.sum;
  summary.min = summary.count == 0 ? values.min : std::min(summary.min, values.min);
  summary.max = summary.count == 0 ? values.max : std::max(summary.max, values.max);
  summary.count += values.count;
  summary.mean = summary.count == 0 ? 0 : sum / static_cast<double>(summary.count);
  summary.unit = unless_empty(unit);
}

class Join {
 public:
  Join(const trace::Trace& trace, KernelRanking& ranking) : trace_(trace), names_(trace) {
    for (KernelRow& row : ranking.rows) rows_[names_.of(row.name)].push_back(&row);
  }

  // Counts timeline kernels by the keys that profiled launches match on, with and without range.
  void count_timeline() {
    const OpenRanges open(trace_);
    std::vector<uint32_t> range_of_path;
    range_of_path.reserve(open.path_count());
    for (uint32_t i = 0; i < open.path_count(); ++i) {
      range_of_path.push_back(ranges_.of(open.path(i)));
    }
    const trace::KernelTable& kernels = trace_.kernels;
    of_kernel_.resize(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const trace::LaunchShape& launch = trace_.shapes[kernels.shape[i]];
      Shape shape{names_.of(kernels.name[i]), launch.grid, launch.block, 0};
      of_kernel_[i].fill(count(shape));
      if (!kernels.launch[i].valid()) continue;
      const size_t row = kernels.launch[i].index();
      shape.range = range_of_path[open.at(trace_.launches.thread[row], trace_.launches.start[row])];
      if (shape.range == 0) continue;
      timeline_knows_ranges_ = true;
      of_kernel_[i].back() = count(shape);
    }
  }

  // By row of Trace::kernels; valid after `run`.
  [[nodiscard]] std::vector<bool> measured_kernels() const {
    std::vector<bool> measured(of_kernel_.size());
    for (size_t i = 0; i < measured.size(); ++i) {
      measured[i] = covered_[of_kernel_[i].front()] || covered_[of_kernel_[i].back()];
    }
    return measured;
  }

  profile::MetricJoin run(KernelSource source) {
    const bool against_timeline = source == KernelSource::timeline;
    std::vector<uint64_t> launches(trace_.identities.size(), 0);
    for (const trace::IdentityId identity : trace_.profiled_launches.identity) {
      ++launches[identity.index()];
    }
    std::vector<bool> joined(trace_.identities.size(), true);
    profile::MetricJoin result;
    for (size_t i = 0; i < launches.size(); ++i) {
      result.profiled_launches += launches[i];
      const trace::ProfiledIdentity& identity = trace_.identities[trace::IdentityId(i)];
      if (against_timeline) joined[i] = covers(identity, result);
      if (source == KernelSource::summary) joined[i] = is_summarized(identity, result);
      if (joined[i]) result.joined += launches[i];
    }
    for (size_t i = 0; i < launches.size(); ++i) {
      if (joined[i]) count_grid(trace_.identities[trace::IdentityId(i)], launches[i]);
    }
    keep_commonest_grids();
    const std::vector<std::string> labels = metric_labels(trace_);
    for (const trace::MetricValues& values : trace_.metric_values) {
      if (!joined[values.identity.index()]) continue;
      const trace::Metric& metric = trace_.metrics[values.metric];
      const trace::ProfiledIdentity& identity = trace_.identities[values.identity];
      for (KernelRow* row : rows_[names_.of(identity.name)]) {
        add(row->metrics[labels[values.metric.index()]], values, trace_.strings[metric.unit]);
      }
    }
    return result;
  }

 private:
  uint32_t count(const Shape& shape) {
    const uint32_t place = timeline_.intern(shape).value;
    if (place == counts_.size()) {
      counts_.push_back(0);
      covered_.push_back(false);
    }
    ++counts_[place];
    return place;
  }

  [[nodiscard]] Shape shape_of(const trace::ProfiledIdentity& identity) {
    Shape shape{names_.of(identity.name), {}, {}, 0};
    if (identity.shape.valid()) {
      shape.grid = trace_.shapes[identity.shape].grid;
      shape.block = trace_.shapes[identity.shape].block;
    }
    return shape;
  }

  // None if the timeline has no such launch.
  std::optional<uint32_t> find(const Shape& shape) {
    const uint32_t place = timeline_.intern(shape).value;
    return place < counts_.size() ? std::optional(place) : std::nullopt;
  }

  void count_grid(const trace::ProfiledIdentity& identity, uint64_t launches) {
    if (!identity.shape.valid() || launches == 0) return;
    const Shape shape = shape_of(identity);
    for (KernelRow* row : rows_[shape.kernel]) grids_[row][shape.grid] += launches;
  }

  void keep_commonest_grids() {
    for (const auto& [row, grids] : grids_) {
      row->measured_grids = grids.size();
      row->commonest_grid =
          std::ranges::max_element(grids, {}, [](const auto& grid) { return grid.second; })->first;
    }
  }

  // Totals per name have no shapes, so only the name is matched.
  bool is_summarized(const trace::ProfiledIdentity& identity, profile::MetricJoin& result) {
    const auto rows = rows_.find(names_.of(identity.name));
    if (rows == rows_.end()) return false;
    if (!summarized_.insert(rows->first).second) return true;
    for (const KernelRow* row : rows->second) result.timeline_kernels_covered += row->calls;
    return true;
  }

  bool covers(const trace::ProfiledIdentity& identity, profile::MetricJoin& result) {
    Shape shape = shape_of(identity);
    if (timeline_knows_ranges_) shape.range = ranges_.known(trace_.strings[identity.ranges]);
    const auto known = find(shape);
    if (!known) return false;
    if (!covered_[*known]) result.timeline_kernels_covered += counts_[*known];
    covered_[*known] = true;
    return true;
  }

  const trace::Trace& trace_;
  KernelNumbers names_;
  RangeNumbers ranges_;
  std::unordered_map<uint32_t, std::vector<KernelRow*>> rows_;
  std::unordered_set<uint32_t> summarized_;  // kernel numbers already counted
  trace::Interner<trace::Id<struct TimelineShapeKind>, Shape> timeline_;
  // By shape of the timeline; shapes that only a profiler saw come after these.
  std::vector<uint64_t> counts_;                    // kernels
  std::vector<bool> covered_;                       // whether one was measured
  std::vector<std::array<uint32_t, 2>> of_kernel_;  // indices without and with its range
  std::unordered_map<KernelRow*, std::map<trace::Extent, uint64_t>>
      grids_;  // measured launches by grid
  bool timeline_knows_ranges_ = false;
};

}  // namespace

std::string metric_name_with_unit(std::string_view name, std::string_view unit) {
  return unit.empty() ? std::string(name) : fmt::format("{} ({})", name, unit);
}

profile::MetricJoin join_metrics(const trace::Trace& trace, KernelRanking& ranking) {
  if (trace.profiled_launches.size() == 0) return {};
  Join join(trace, ranking);
  const bool against_timeline = ranking.source == KernelSource::timeline;
  if (against_timeline) join.count_timeline();
  profile::MetricJoin result = join.run(ranking.source);
  result.unjoined = result.profiled_launches - result.joined;
  if (against_timeline) ranking.measured_kernels = join.measured_kernels();
  return result;
}

}  // namespace llmprof::analysis
