#include "session/kernel_selection.h"

#include <algorithm>

namespace llmprof {
namespace {

// ncu can be gated by a push/pop range of a domain only: "LLM@decode_all". A name spelled like that
// in the default domain matches no filter.
std::string gating_range(const Trace& trace, const Stage& stage) {
  if (stage.source != StageSource::nvtx) return {};
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const StringId domain = trace.ranges.domain[i];
    if (trace.ranges.kind[i] != RangeKind::push_pop || !domain.valid()) continue;
    const std::string label =
        std::string(trace.strings[domain]) + '@' + std::string(trace.strings[trace.ranges.text[i]]);
    if (label == stage.evidence) return label;
  }
  return {};
}

// When the first instance of a stage begins that is no warm-up; the first at all where all are.
Nanoseconds first_start(const Stages& stages, uint32_t stage) {
  Nanoseconds any = INT64_MAX;
  Nanoseconds steady = INT64_MAX;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage) continue;
    any = std::min(any, instance.start);
    if (!instance.warmup) steady = std::min(steady, instance.start);
  }
  return steady == INT64_MAX ? any : steady;
}

uint64_t launches_before(const Trace& trace, StringId name, Nanoseconds time) {
  uint64_t count = 0;
  for (size_t i = 0; i < trace.kernels.size() && trace.kernels.start[i] < time; ++i) {
    if (trace.kernels.name[i] == name) ++count;
  }
  return count;
}

struct TopKernel {
  StringId name;
  std::vector<size_t> rows;  // of the ranking: one a device
};

// Rows are one a device; a kernel is chosen once.
std::vector<TopKernel> top_names(const KernelRanking& ranking, size_t top_n) {
  std::vector<TopKernel> top;
  for (size_t row = 0; row < ranking.rows.size(); ++row) {
    const StringId name = ranking.rows[row].name;
    const auto same = std::find_if(top.begin(), top.end(),
                                   [&](const TopKernel& kernel) { return kernel.name == name; });
    if (same != top.end()) {
      same->rows.push_back(row);
    } else if (top.size() < top_n) {
      top.push_back({name, {row}});
    }
  }
  return top;
}

class KernelChoice {
 public:
  explicit KernelChoice(const Profile& profile) : profile_(profile), trace_(*profile.trace) {
    for (const Stage& stage : profile.stages.stages) {
      ranges_.push_back(gating_range(trace_, stage));
      starts_.push_back(first_start(profile.stages, static_cast<uint32_t>(starts_.size())));
    }
  }

  void add(const TopKernel& kernel) {
    const size_t before = chosen_.size();
    for (size_t stage = 0; stage < starts_.size(); ++stage) add_in_stage(kernel, stage);
    if (chosen_.size() == before) add_outside(kernel);
  }

  std::vector<ChosenKernel> take() { return std::move(chosen_); }

 private:
  void add_in_stage(const TopKernel& kernel, size_t stage) {
    ChosenKernel chosen;
    for (const size_t row : kernel.rows) {
      const StageTime& time = profile_.opened[row].stages[stage];
      chosen.launches += time.steady_calls > 0 ? time.steady_calls : time.calls;
    }
    if (chosen.launches == 0) return;
    chosen.name = trace_.strings[kernel.name];
    chosen.stage = profile_.stages.stages[stage].name;
    chosen.range = ranges_[stage];
    chosen.launches_before = launches_before(trace_, kernel.name, starts_[stage]);
    chosen.distinct_shapes = shapes_in(kernel, stage);
    chosen_.push_back(std::move(chosen));
  }

  void add_outside(const TopKernel& kernel) {
    ChosenKernel chosen;
    chosen.name = trace_.strings[kernel.name];
    for (const size_t row : kernel.rows) {
      chosen.launches += profile_.ranking.rows[row].calls;
      chosen.distinct_shapes = std::max<uint64_t>(1, profile_.opened[row].shapes.size());
    }
    chosen_.push_back(std::move(chosen));
  }

  [[nodiscard]] uint64_t shapes_in(const TopKernel& kernel, size_t stage) const {
    uint64_t shapes = 0;
    for (const size_t row : kernel.rows) {
      uint64_t here = 0;
      for (const ShapeRow& shape : profile_.opened[row].shapes) {
        if (shape.stages[stage].calls > 0) ++here;
      }
      shapes = std::max(shapes, here);
    }
    return shapes;
  }

  const Profile& profile_;
  const Trace& trace_;
  std::vector<std::string> ranges_;  // by stage
  std::vector<Nanoseconds> starts_;  // by stage
  std::vector<ChosenKernel> chosen_;
};

}  // namespace

std::vector<ChosenKernel> select_top_kernels(const Profile& profile, size_t top_n) {
  if (profile.ranking.source != KernelSource::timeline) return {};
  KernelChoice selection(profile);
  for (const TopKernel& kernel : top_names(profile.ranking, top_n)) selection.add(kernel);
  return selection.take();
}

}  // namespace llmprof
