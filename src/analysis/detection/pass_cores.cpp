#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/repeats.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

struct Stretch : RepeatedStretch {
  uint32_t layers_per_repeat = 1;
  bool loop = false;     // its repeats are passes, not layers
  bool in_loop = false;  // the layers of a pass that repeats immediately

  [[nodiscard]] double explained() const { return length() * agreement; }
};

// Positions assigned to a pass. A stretch ends where similarity ends, which may be a few kernels
// after the layers: so small an overlap does not count.
class Occupied {
 public:
  [[nodiscard]] bool overlaps(const Stretch& stretch) const {
    const Stretch left = clipped(stretch);
    return std::max(left.begin - stretch.begin, stretch.end - left.end) >
           std::min(stretch.period, stretch.length() / threshold::kQuarter);
  }

  // Without positions that are already assigned.
  [[nodiscard]] Stretch clipped(Stretch stretch) const {
    const auto behind = by_begin_.upper_bound(stretch.begin);
    if (behind != by_begin_.begin()) {
      stretch.begin = std::min(stretch.end, std::max(stretch.begin, std::prev(behind)->second));
    }
    if (behind != by_begin_.end()) {
      stretch.end = std::max(stretch.begin, std::min(stretch.end, behind->first));
    }
    return stretch;
  }

  void add(const Stretch& clipped) { by_begin_[clipped.begin] = clipped.end; }

 private:
  std::map<uint32_t, uint32_t> by_begin_;  // end by begin; they do not overlap
};

class CoreSearch {
 public:
  explicit CoreSearch(std::span<const uint32_t> tokens) : tokens_(tokens) {
    for (const RepeatedStretch& found : find_repeats(tokens)) {
      if (found.period < threshold::kSmallLoop) continue;
      Stretch stretch{found};
      const uint32_t middle = found.begin + found.count / 2 * found.period;
      stretch.layers_per_repeat = layers_in_repeat(tokens.subspan(middle, found.period));
      all_.push_back(stretch);
    }
  }

  std::vector<PassCore> find() {
    look_into_loops();
    choose();
    keep_models();
    return std::move(cores_);
  }

 private:
  // Calls `visit(row)` for each stretch that repeats within one period of `outer`.
  template <class Visit>
  void each_inside(const Stretch& outer, const Visit& visit) const {
    auto inner = std::ranges::lower_bound(all_, outer.begin, {}, &Stretch::begin);
    for (; inner != all_.end() && inner->begin < outer.end; ++inner) {
      if (inner->end > outer.end || threshold::kRepeats * inner->period > outer.period) continue;
      if (inner->length() > outer.period + outer.period / threshold::kQuarter) continue;
      visit(static_cast<size_t>(inner - all_.begin()));
    }
  }

  // The period that fills most of each repeat; 0 if none does.
  [[nodiscard]] uint32_t dominating(const Stretch& outer) const {
    std::map<uint32_t, double> explained;
    each_inside(outer, [&](size_t row) { explained[all_[row].period] += all_[row].explained(); });
    uint32_t best = 0;
    double most = threshold::kMuch * outer.length();
    for (const auto& [period, length] : explained) {
      if (length <= most) continue;
      most = length * (1 + threshold::kSmallPart);
      best = period;
    }
    return best;
  }

  // From the inside out. The innermost two levels are a pass and its layers; a loop around them is
  // a loop of requests.
  void look_into_loops() {
    std::vector<size_t> order(all_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t row) { return all_[row].period; });
    for (const size_t row : order) {
      const uint32_t period = dominating(all_[row]);
      if (period == 0) continue;
      all_[row].loop = true;
      each_inside(all_[row], [&](size_t i) {
        if (all_[i].period == period && !all_[i].loop) all_[i].in_loop = true;
      });
    }
  }

  // Non-overlapping stretches: layers of loops first, then those that explain the most; of equals,
  // the one with the shorter period.
  void choose() {
    std::vector<const Stretch*> order;
    for (const Stretch& stretch : all_) {
      if (stretch.in_loop || !stretch.loop) order.push_back(&stretch);
    }
    std::ranges::stable_sort(order, {}, [](const Stretch* each) {
      return std::tuple(!each->in_loop, -each->explained(), each->period);
    });
    for (const Stretch* each : order) {
      if (!occupied_.overlaps(*each)) add(occupied_.clipped(*each));
    }
  }

  void add(const Stretch& stretch) {
    occupied_.add(stretch);
    const uint32_t repeats =
        (stretch.length() + stretch.period / threshold::kQuarter) / stretch.period;
    cores_.push_back({stretch.begin, stretch.end, stretch.period,
                      stretch.layers_per_repeat * repeats, stretch.layers_per_repeat,
                      stretch.in_loop});
  }

  // A model's passes have equal numbers of layers. Some may show one less, if their first or last
  // layer differs from the others.
  void count_layers_alike() {
    std::map<uint32_t, size_t> passes;
    for (const PassCore& core : cores_) ++passes[core.layers];
    for (PassCore& core : cores_) {
      const size_t own = passes[core.layers];
      for (const uint32_t near :
           {core.layers + core.layers_per_repeat, core.layers - core.layers_per_repeat}) {
        const auto known = passes.find(near);
        if (known != passes.end() && known->second > own) core.layers = near;
      }
    }
  }

  // Cores whose layers are much shorter than in the model's other passes only touch each layer
  // (filling weights, cutting caches). Anything that runs once, or hardly at all, is not a model.
  void keep_models() {
    count_layers_alike();
    const auto layer_of = [](const PassCore& core) {
      return static_cast<double>(core.period) / std::max(core.layers_per_repeat, 1U);
    };
    std::map<uint32_t, std::map<double, uint64_t>> kernels_by_layer;
    for (const PassCore& core : cores_) {
      kernels_by_layer[core.layers][layer_of(core)] += core.length();
    }
    std::erase_if(cores_, [&](const PassCore& core) {
      const double usual = most_frequent(kernels_by_layer[core.layers]).first;
      return !core.in_loop && layer_of(core) < threshold::kMuch * usual;
    });
    std::map<uint32_t, std::vector<const PassCore*>> models;
    double kernels = 0;
    for (const PassCore& core : cores_) {
      models[core.layers].push_back(&core);
      kernels += core.length();
    }
    std::set<uint32_t> kept;
    for (const auto& [layers, passes] : models) {
      double own = 0;
      for (const PassCore* core : passes) own += core->length();
      if (passes.size() > 1 && own >= threshold::kSmallPart * kernels && recurs(passes)) {
        kept.insert(layers);
      }
    }
    std::erase_if(cores_, [&](const PassCore& core) { return !kept.contains(core.layers); });
  }

  // Whether a model runs more than once. A compiler may try equally many candidates for each
  // kernel, but each candidate is a different kernel.
  [[nodiscard]] bool recurs(const std::vector<const PassCore*>& passes) const {
    std::vector<std::set<uint32_t>> names;
    for (const PassCore* core : passes) {
      if (core->in_loop) return true;
      names.emplace_back(tokens_.begin() + core->begin, tokens_.begin() + core->end);
      for (size_t other = 0; other + 1 < names.size(); ++other) {
        if (in_common(names[other], names.back()) >= threshold::kMost) return true;
      }
    }
    return false;
  }

  static double in_common(const std::set<uint32_t>& one, const std::set<uint32_t>& other) {
    const auto both = static_cast<size_t>(
        std::ranges::count_if(one, [&](uint32_t name) { return other.contains(name); }));
    return static_cast<double>(both) / static_cast<double>(one.size() + other.size() - both);
  }

  std::span<const uint32_t> tokens_;
  std::vector<Stretch> all_;
  Occupied occupied_;
  std::vector<PassCore> cores_;
};

// Passes whose kernels are hidden in graph replays: each replay is one, or several different graphs
// that nearly always follow each other are parts of one. None if no graph is replayed twice.
void add_hidden(const KernelSequence& sequence, std::vector<PassCore>& cores) {
  struct Replays {
    size_t times = 0;
    std::unordered_map<uint32_t, size_t> next;  // by graph
  };
  std::vector<std::pair<uint32_t, uint32_t>> replays;  // position, graph
  std::unordered_map<uint32_t, Replays> graphs;
  for (uint32_t at = 0; at < sequence.size(); ++at) {
    if (!sequence.replay(at)) continue;
    const uint32_t graph = sequence.trace().graph_replays.graph[sequence.item(at).row];
    ++graphs[graph].times;
    if (!replays.empty()) ++graphs[replays.back().second].next[graph];
    replays.emplace_back(at, graph);
  }
  if (std::ranges::none_of(graphs, [](const auto& graph) { return graph.second.times > 1; })) {
    return;
  }
  // A loop of parts starts with the graph that was replayed first.
  const auto together = [&](uint32_t graph, uint32_t next) {
    if (graph == next || next == replays.front().second) return false;
    const size_t times = graphs[graph].next[next];
    const auto nearly_all = [&](size_t of) {
      return (of - std::min(of, times)) * threshold::kSeldom <= of;
    };
    return nearly_all(graphs[graph].times) && nearly_all(graphs[next].times);
  };
  for (size_t i = 0; i < replays.size(); ++i) {
    const auto [position, graph] = replays[i];
    if (i == 0 || !together(replays[i - 1].second, graph)) {
      cores.push_back({position, 0, 0, 0, 1, true});
    }
    cores.back().end = position + 1;
  }
}

}  // namespace

std::vector<PassCore> find_pass_cores(const KernelSequence& sequence) {
  std::vector<uint32_t> tokens(sequence.size());
  uint32_t fresh = UINT32_MAX / 2;  // a replay equals no kernel
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = sequence.replay(i) ? fresh++ : sequence.name(i).value;
  }
  std::vector<PassCore> cores = CoreSearch(tokens).find();
  add_hidden(sequence, cores);
  std::ranges::sort(cores, {}, &PassCore::begin);
  return cores;
}

}  // namespace llmprof::analysis
