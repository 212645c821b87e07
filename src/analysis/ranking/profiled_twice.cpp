#include "analysis/ranking/same_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/naming/kernel_key.h"
#include "analysis/stages/selection.h"

namespace llmprof::analysis {
namespace {

// The details page has at least three digits ("1.23 us", "12.35 us").
constexpr Nanoseconds kRoundedTo = 10;
constexpr Nanoseconds kRoundedPart = 200;  // 0.5 % of the duration

bool known(Nanoseconds duration) { return duration != trace::kUnknownDuration; }

bool same_duration(Nanoseconds a, Nanoseconds b) {
  if (!known(a) || !known(b)) return true;
  return std::max(a, b) - std::min(a, b) <= std::max(kRoundedTo, std::max(a, b) / kRoundedPart);
}

class PagesOfOneRun {
 public:
  PagesOfOneRun(trace::Trace& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics), names_(trace), launches_(trace.captures.size()) {
    const trace::ProfiledLaunchTable& table = trace.profiled_launches;
    for (size_t i = 0; i < table.size(); ++i) {
      launches_[trace.identities[table.identity[i]].capture.index()].push_back(i);
    }
    become_.resize(trace.identities.size());
  }

  void run() {
    for (size_t a = 0; a < launches_.size(); ++a) {
      for (size_t b = a + 1; b < launches_.size(); ++b) {
        if (launches_[a].empty() || !same_run(a, b)) continue;
        const bool a_is_finer = exactness(a) >= exactness(b);
        merge(a_is_finer ? a : b, a_is_finer ? b : a);
      }
    }
    if (!any_) return;
    drop_launches();
    move_metrics();
  }

 private:
  [[nodiscard]] const trace::ProfiledIdentity& identity(size_t launch) const {
    return trace_.identities[trace_.profiled_launches.identity[launch]];
  }

  bool same_kernel(size_t a, size_t b) {
    const trace::ProfiledIdentity& left = identity(a);
    const trace::ProfiledIdentity& right = identity(b);
    const auto shape = [&](const trace::ProfiledIdentity& of) {
      return of.shape.valid() ? trace_.shapes[of.shape] : trace::LaunchShape();
    };
    return shape(left).grid == shape(right).grid && shape(left).block == shape(right).block &&
           names_.of(left.name) == names_.of(right.name);
  }

  bool same_run(size_t a, size_t b) {
    if (launches_[a].size() != launches_[b].size()) return false;
    const auto& duration = trace_.profiled_launches.duration;
    bool compared = false;
    for (size_t i = 0; i < launches_[a].size(); ++i) {
      const size_t left = launches_[a][i];
      const size_t right = launches_[b][i];
      if (!same_duration(duration[left], duration[right]) || !same_kernel(left, right)) {
        return false;
      }
      compared = compared || (known(duration[left]) && known(duration[right]));
    }
    return compared;
  }

  // Number of known durations, and how many of these are not rounded.
  [[nodiscard]] std::pair<size_t, size_t> exactness(size_t capture) const {
    std::pair<size_t, size_t> counts;
    for (const size_t launch : launches_[capture]) {
      const Nanoseconds duration = trace_.profiled_launches.duration[launch];
      if (!known(duration)) continue;
      ++counts.first;
      if (duration % kRoundedTo != 0) ++counts.second;
    }
    return counts;
  }

  void merge(size_t kept, size_t dropped) {
    any_ = true;
    for (size_t i = 0; i < launches_[kept].size(); ++i) {
      const trace::IdentityId from = trace_.profiled_launches.identity[launches_[dropped][i]];
      const trace::IdentityId to = trace_.profiled_launches.identity[launches_[kept][i]];
      if (!become_[from.index()].valid()) become_[from.index()] = to;
      name_device(trace_.identities[from].device, trace_.identities[to].device);
    }
    diagnostics_.info("profiled_twice",
                      fmt::format("{} and {} are pages of one profiler run: its launches are "
                                  "counted once, with the durations of the first and the metrics "
                                  "of both",
                                  trace_.captures[kept].path, trace_.captures[dropped].path),
                      launches_[kept].size());
    launches_[dropped].clear();
  }

  void name_device(trace::DeviceId from, trace::DeviceId to) {
    if (!from.valid() || !to.valid()) return;
    std::string& name = trace_.devices[to.index()].name;
    if (name.empty()) name = trace_.devices[from.index()].name;
  }

  // Follows pages that were themselves merged into another one.
  [[nodiscard]] trace::IdentityId last_of(trace::IdentityId identity) const {
    while (become_[identity.index()].valid()) identity = become_[identity.index()];
    return identity;
  }

  void drop_launches() {
    std::vector<bool> keep;
    keep.reserve(trace_.profiled_launches.identity.size());
    for (const trace::IdentityId identity : trace_.profiled_launches.identity) {
      keep.push_back(!become_[identity.index()].valid());
    }
    keep_marked(trace_.profiled_launches.identity, keep);
    keep_marked(trace_.profiled_launches.duration, keep);
  }

  // A metric that is on both pages is the same measurement.
  void move_metrics() {
    std::vector<trace::MetricValues>& values = trace_.metric_values;
    std::set<std::pair<uint32_t, uint32_t>> held;
    for (const trace::MetricValues& value : values) {
      if (!become_[value.identity.index()].valid()) {
        held.insert({value.identity.value, value.metric.value});
      }
    }
    std::erase_if(values, [&](trace::MetricValues& value) {
      if (!become_[value.identity.index()].valid()) return false;
      value.identity = last_of(value.identity);
      return !held.insert({value.identity.value, value.metric.value}).second;
    });
    std::ranges::sort(values, {}, [](const trace::MetricValues& value) {
      return std::pair(value.identity.value, value.metric.value);
    });
  }

  trace::Trace& trace_;
  Diagnostics& diagnostics_;
  KernelNumbers names_;
  std::vector<std::vector<size_t>> launches_;  // by capture
  std::vector<trace::IdentityId> become_;      // invalid: it stays
  bool any_ = false;
};

}  // namespace

void merge_profiled_twice(trace::Trace& trace, Diagnostics& diagnostics) {
  if (trace.profiled_launches.size() == 0) return;
  PagesOfOneRun(trace, diagnostics).run();
}

}  // namespace llmprof::analysis
