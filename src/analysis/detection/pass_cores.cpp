#include "analysis/detection/pass_cores.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "analysis/detection/hidden_passes.h"
#include "analysis/detection/layers_in_repeat.h"
#include "analysis/detection/repeats.h"

namespace llmprof::analysis {
namespace {

// The layers fill at least this share of a loop's period.
constexpr double kDominates = 0.4;
// A longer period must explain so much more than a shorter one, of which it may be a multiple.
constexpr double kClearlyBetter = 1.05;
// An outer period holds at least so many repeats of an inner one.
constexpr uint32_t kFewestInner = 3;
// Fewer kernels are no layer: a scan over tokens, a part of a sampler.
constexpr uint32_t kFewestKernels = 6;
// A loop inside of a layer has at most so many.
constexpr uint32_t kSmallLoop = 12;
// Cores whose layers are so much shorter than those of the model's other passes only touch each
// layer (weights being filled, caches being cut).
constexpr double kMuchShorter = 0.4;
// Of all kernels in cores, a model of its own has at least this share.
constexpr double kLeastShare = 0.05;
// Two passes of one model have at least this share of their different kernels in common.
constexpr double kLeastInCommon = 0.5;

struct Stretch : RepeatedStretch {
  uint32_t layers = 0;
  bool loop = false;      // its repeats are passes, not layers
  bool in_loop = false;   // the layers of a pass that repeats at once
  bool in_layer = false;  // smaller than a layer

  [[nodiscard]] double explained() const { return length() * agreement; }
};

// Positions that were given to a pass. The edges of a stretch are where likeness ends, which may be
// a few kernels behind the layers: so much of an overlap is none.
class Occupied {
 public:
  [[nodiscard]] bool overlaps(const Stretch& stretch) const {
    const Stretch left = clipped(stretch);
    return std::max(left.begin - stretch.begin, stretch.end - left.end) >
           std::min(stretch.period, stretch.length() / 4);
  }
  // Without what another one has.
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
  void add(const Stretch& stretch) {
    const Stretch left = clipped(stretch);
    by_begin_[left.begin] = left.end;
  }

 private:
  std::map<uint32_t, uint32_t> by_begin_;  // end by begin; they do not overlap
};

class CoreSearch {
 public:
  explicit CoreSearch(std::span<const uint32_t> tokens) : tokens_(tokens) {
    for (const RepeatedStretch& found : find_repeats(tokens)) {
      if (found.period < kFewestKernels) continue;
      Stretch stretch{found};
      const uint32_t middle = found.begin + found.count / 2 * found.period;
      stretch.layers = found.count * layers_in_repeat(tokens.subspan(middle, found.period));
      all_.push_back(stretch);
    }
  }

  std::vector<PassCore> find() {
    look_into_loops();
    std::vector<size_t> in_loops;
    std::vector<size_t> others;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].in_layer) continue;
      if (all_[i].in_loop) {
        in_loops.push_back(i);
      } else if (!all_[i].loop) {
        others.push_back(i);
      }
    }
    choose(in_loops);
    choose(others);
    keep_models();
    std::sort(cores_.begin(), cores_.end(),
              [](const PassCore& a, const PassCore& b) { return a.begin < b.begin; });
    return std::move(cores_);
  }

 private:
  // Calls `visit(row)` for what repeats within one period of `outer`.
  template <class Visit>
  void each_inside(const Stretch& outer, const Visit& visit) const {
    const auto first = std::lower_bound(
        all_.begin(), all_.end(), outer.begin,
        [](const Stretch& stretch, uint32_t begin) { return stretch.begin < begin; });
    for (auto inner = first; inner != all_.end() && inner->begin < outer.end; ++inner) {
      if (inner->end > outer.end || kFewestInner * inner->period > outer.period) continue;
      if (inner->length() > outer.period + outer.period / 4) continue;
      visit(static_cast<size_t>(inner - all_.begin()));
    }
  }

  // The period that fills most of each repeat; 0 where none does.
  [[nodiscard]] uint32_t dominating(const Stretch& outer) const {
    std::map<uint32_t, double> explained;
    each_inside(outer, [&](size_t row) { explained[all_[row].period] += all_[row].explained(); });
    uint32_t best = 0;
    double most = kDominates * outer.length();
    for (const auto& [period, length] : explained) {
      if (length <= most) continue;
      most = length * kClearlyBetter;
      best = period;
    }
    return best;
  }

  // Whether other passes have as many layers as `stretch` has repeats, though of other kernels.
  [[nodiscard]] bool count_recurs(const Stretch& stretch) const {
    const auto known = periods_of_count_.find(stretch.count);
    if (known == periods_of_count_.end()) return false;
    return std::any_of(known->second.begin(), known->second.end(), [&](uint32_t period) {
      return period % stretch.period != 0 && stretch.period % period != 0;
    });
  }

  // From the inside out. The innermost two levels are a pass and its layers; what repeats them is a
  // loop of requests. But a layer may itself be a loop over a few kernels (experts, a scan over
  // tokens): then other passes have as many layers, and no other loop as many rounds.
  void look_into_loops() {
    for (const Stretch& stretch : all_) periods_of_count_[stretch.count].insert(stretch.period);
    std::vector<size_t> order(all_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return all_[a].period != all_[b].period ? all_[a].period < all_[b].period : a < b;
    });
    for (const size_t row : order) {
      const uint32_t period = dominating(all_[row]);
      if (period == 0) continue;
      size_t inner = 0;
      size_t loops = 0;
      bool rounds_recur = false;
      each_inside(all_[row], [&](size_t i) {
        if (all_[i].period != period) return;
        ++inner;
        if (all_[i].loop) ++loops;
        rounds_recur = rounds_recur || count_recurs(all_[i]);
      });
      if (period <= kSmallLoop && !rounds_recur && count_recurs(all_[row])) {
        each_inside(all_[row], [&](size_t i) { all_[i].in_layer = true; });
        continue;
      }
      all_[row].loop = true;
      if (2 * loops > inner) continue;
      each_inside(all_[row], [&](size_t i) {
        if (all_[i].period == period && !all_[i].loop) all_[i].in_loop = true;
      });
    }
  }

  // Those that explain most, none over another; of two that explain the same, the shorter period.
  void choose(std::vector<size_t> rows) {
    std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      return all_[a].explained() != all_[b].explained() ? all_[a].explained() > all_[b].explained()
                                                        : all_[a].period < all_[b].period;
    });
    std::map<uint32_t, std::vector<size_t>> by_begin;
    for (const size_t row : rows) by_begin[all_[row].begin].push_back(row);
    for (const size_t row : rows) {
      if (occupied_.overlaps(all_[row])) continue;
      size_t best = row;
      const Stretch& longest = all_[row];
      const auto last = by_begin.upper_bound(longest.begin + longest.length() / 4);
      const uint32_t from = longest.begin - std::min(longest.begin, longest.length() / 4);
      for (auto at = by_begin.lower_bound(from); at != last; ++at) {
        for (const size_t other : at->second) {
          const Stretch& stretch = all_[other];
          if (stretch.period >= all_[best].period || occupied_.overlaps(stretch)) continue;
          if (stretch.explained() * kClearlyBetter >= longest.explained()) best = other;
        }
      }
      add(all_[best]);
    }
  }

  void add(const Stretch& chosen) {
    Stretch stretch = occupied_.clipped(chosen);
    occupied_.add(stretch);
    const uint32_t per_repeat = stretch.layers / stretch.count;
    stretch.layers = per_repeat * repeats_in(stretch);
    cores_.push_back({stretch.begin, stretch.end, stretch.period, stretch.layers, per_repeat,
                      stretch.agreement, stretch.in_loop});
  }

  static uint32_t repeats_in(const Stretch& stretch) {
    return (stretch.length() + stretch.period / 4) / stretch.period;
  }

  // A model's passes have equal numbers of layers; some may show one less, where their first or
  // last layer differs from the others.
  void keep_models() {
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
    struct Model {
      size_t passes = 0;
      uint64_t kernels = 0;
      bool recurs = false;
      std::map<double, uint64_t> by_layer;  // kernels by the length of their layer
      [[nodiscard]] double layer() const {
        return std::max_element(by_layer.begin(), by_layer.end(),
                                [](auto& a, auto& b) { return a.second < b.second; })
            ->first;
      }
    };
    const auto layer_of = [](const PassCore& core) {
      return static_cast<double>(core.period) / std::max(core.layers_per_repeat, 1U);
    };
    std::map<uint32_t, Model> models;
    for (const PassCore& core : cores_) {
      models[core.layers].by_layer[layer_of(core)] += core.end - core.begin;
    }
    std::erase_if(cores_, [&](const PassCore& core) {
      return !core.in_loop && layer_of(core) < kMuchShorter * models[core.layers].layer();
    });
    uint64_t kernels = 0;
    for (const PassCore& core : cores_) {
      Model& model = models[core.layers];
      ++model.passes;
      model.kernels += core.end - core.begin;
      kernels += core.end - core.begin;
    }
    for (auto& [layers, model] : models) model.recurs = recurs(layers);
    std::erase_if(cores_, [&](const PassCore& core) {
      const Model& model = models[core.layers];
      return model.passes < 2 || !model.recurs ||
             static_cast<double>(model.kernels) < kLeastShare * static_cast<double>(kernels);
    });
  }

  // Whether a model runs more than once. A compiler that tries candidates for one kernel after the
  // other may try as many for each; but what it tries is another kernel each time.
  [[nodiscard]] bool recurs(uint32_t layers) const {
    std::vector<std::set<uint32_t>> passes;
    for (const PassCore& core : cores_) {
      if (core.layers != layers) continue;
      if (core.in_loop) return true;
      passes.emplace_back(tokens_.begin() + core.begin, tokens_.begin() + core.end);
      for (size_t other = 0; other + 1 < passes.size(); ++other) {
        if (in_common(passes[other], passes.back()) >= kLeastInCommon) return true;
      }
    }
    return false;
  }

  static double in_common(const std::set<uint32_t>& one, const std::set<uint32_t>& other) {
    const auto both = static_cast<size_t>(
        std::count_if(one.begin(), one.end(), [&](uint32_t name) { return other.contains(name); }));
    return static_cast<double>(both) / static_cast<double>(one.size() + other.size() - both);
  }

  std::span<const uint32_t> tokens_;
  std::vector<Stretch> all_;
  std::map<uint32_t, std::set<uint32_t>> periods_of_count_;
  Occupied occupied_;
  std::vector<PassCore> cores_;
};

}  // namespace

std::vector<PassCore> find_pass_cores(const KernelSequence& sequence) {
  std::vector<uint32_t> tokens(sequence.size());
  uint32_t fresh = UINT32_MAX / 2;  // a replay is like no kernel
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = sequence.replay(i) ? fresh++ : sequence.name(i).value;
  }
  std::vector<PassCore> cores = CoreSearch(tokens).find();
  const std::vector<PassCore> hidden = find_hidden_passes(sequence);
  cores.insert(cores.end(), hidden.begin(), hidden.end());
  std::sort(cores.begin(), cores.end(),
            [](const PassCore& a, const PassCore& b) { return a.begin < b.begin; });
  return cores;
}

}  // namespace llmprof::analysis
