#include "analysis/layers/pass_layers.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/detection/repeats.h"
#include "analysis/stages/thresholds.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

double token_share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class BeatCuts {
 public:
  BeatCuts(std::span<const uint32_t> tokens, const std::vector<LayerBeat>& beats, size_t kinds)
      : tokens_(tokens), beats_(beats), kinds_(kinds) {}

  [[nodiscard]] std::vector<size_t> find() const {
    if (beats_.size() < 2 * kinds_) return {};
    const size_t lead = first_lead();
    if (lead < threshold::kShortestLead) return {};
    std::vector<size_t> cuts{beats_[0].first - lead};
    for (size_t i = 1; i < beats_.size(); ++i) {
      const size_t begin = begin_of(i, cuts[0], lead);
      if (begin == 0) return {};
      cuts.push_back(begin);
    }
    // The last layer is as long as the previous one of its kind.
    const size_t alike = beats_.size() - 1 - kinds_;
    const size_t length = cuts[alike + 1] - cuts[alike];
    cuts.push_back(
        std::min(std::max(cuts.back() + length, size_t{beats_.back().last} + 1), tokens_.size()));
    return kinds_alike(cuts) ? cuts : std::vector<size_t>();
  }

 private:
  // Number of kernels from the first layer's start to its attention: the longest match with another
  // layer of its kind. No layer precedes the first one, so the match ends at its start.
  [[nodiscard]] size_t first_lead() const {
    size_t longest = 0;
    const size_t first = beats_[0].first;
    for (size_t i = kinds_; i < beats_.size(); i += kinds_) {
      size_t lead = 0;
      while (lead < first && tokens_[first - lead - 1] == tokens_[beats_[i].first - lead - 1]) {
        ++lead;
      }
      longest = std::max(longest, lead);
    }
    return longest;
  }

  // 0 if not found.
  [[nodiscard]] size_t begin_of(size_t layer, size_t first, size_t lead) const {
    const size_t after = beats_[layer - 1].last + 1;
    const size_t attention = beats_[layer].first;
    if (attention >= after + lead) {
      const size_t begin = attention - lead;
      size_t same = 0;
      for (size_t i = 0; i < lead; ++i) {
        if (tokens_[begin + i] == tokens_[first + i]) ++same;
      }
      if (token_share(same, lead) >= threshold::kAlmostAll) return begin;
    }
    // Another kind of layer, which starts like the first one.
    size_t best = 0;
    size_t longest = threshold::kShortestLead;
    for (size_t at = after; at < attention; ++at) {
      size_t same = 0;
      while (same < lead && at + same < attention && tokens_[at + same] == tokens_[first + same]) {
        ++same;
      }
      if (same >= longest) {
        longest = same;
        best = at;
      }
    }
    return best;
  }

  [[nodiscard]] bool kinds_alike(const std::vector<size_t>& cuts) const {
    for (size_t i = 1; i < kinds_; ++i) {
      std::vector<uint32_t> a(tokens_.begin() + offset(cuts[0]), tokens_.begin() + offset(cuts[1]));
      std::vector<uint32_t> b(tokens_.begin() + offset(cuts[i]),
                              tokens_.begin() + offset(cuts[i + 1]));
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      std::vector<uint32_t> common;
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
      if (token_share(common.size(), std::max(a.size(), b.size())) < threshold::kSameKind)
        return false;
    }
    return true;
  }
  static std::ptrdiff_t offset(size_t at) { return static_cast<std::ptrdiff_t>(at); }

  std::span<const uint32_t> tokens_;
  const std::vector<LayerBeat>& beats_;
  size_t kinds_;  // that alternate
};

// The median over the repeats: the first one may start in a layer unlike the others.
size_t beats_in_a_repeat(const std::vector<LayerBeat>& beats, const RepeatedStretch& period) {
  std::vector<size_t> counts(period.count, 0);
  for (const LayerBeat& beat : beats) {
    if (beat.first < period.begin) continue;
    const size_t repeat = (beat.first - period.begin) / period.period;
    if (repeat < counts.size()) ++counts[repeat];
  }
  return median(std::span(counts));
}

std::vector<size_t> period_cuts(const RepeatedStretch& period) {
  std::vector<size_t> cuts;
  for (size_t i = 0; i <= period.count; ++i) cuts.push_back(period.begin + i * period.period);
  return cuts;
}

std::vector<size_t> layer_cuts(std::span<const uint32_t> tokens,
                               const std::vector<LayerBeat>& beats,
                               const std::optional<RepeatedStretch>& period) {
  if (!period) {
    if (beats.size() < threshold::kSeveral) return {};
    const auto cuts = BeatCuts(tokens, beats, 1).find();
    const bool enough =
        !cuts.empty() && token_share(cuts.back() - cuts.front(), tokens.size()) >= threshold::kMost;
    return enough ? cuts : std::vector<size_t>();
  }
  if (beats.size() > period->count) {
    if (const size_t kinds = beats_in_a_repeat(beats, *period); kinds > 0) {
      auto cuts = BeatCuts(tokens, beats, kinds).find();
      if (!cuts.empty()) return cuts;
    }
  }
  return period_cuts(*period);
}

}  // namespace

PassLayers::PassLayers(const trace::Trace& trace, const Stages& stages, const DescribedNames& names)
    : trace_(trace), names_(names) {
  using PassId = trace::Id<struct PassKind>;
  std::vector<PassId> of_instance(stages.instances.size());
  std::vector<PassId> of_step(stages.steps.size());
  const std::string_view decode = to_string(StepKind::decode);
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    const StageInstance& instance = stages.instances[i];
    if (instance.warmup) continue;
    if (instance.step_count == 0) of_instance[i] = PassId(stage_.size());
    for (uint32_t s = 0; s < instance.step_count; ++s) {
      of_step[instance.first_step + s] = PassId(stage_.size() + s);
      model_.push_back(stages.steps[instance.first_step + s].layers);
    }
    const size_t passes = instance.step_count == 0 ? 1 : instance.step_count;
    stage_.insert(stage_.end(), passes, instance.stage);
    model_.resize(stage_.size(), 0);
    undivided_.insert(undivided_.end(), passes,
                      instance.step_count == 0 && stages.stages[instance.stage].name == decode);
  }

  // Counts first, then places. Work outside an instance's steps is in no pass.
  const WorkOwners& owners = stages.owners;
  const auto pass_of = [&](size_t kernel) {
    if (owners.kernel_step[kernel].valid()) return of_step[owners.kernel_step[kernel].index()];
    if (!owners.kernel_instance[kernel].valid()) return PassId();
    return of_instance[owners.kernel_instance[kernel].index()];
  };
  first_.assign(stage_.size() + 1, 0);
  const size_t kernels = stages.instances.empty() ? 0 : trace.kernels.size();
  for (size_t i = 0; i < kernels; ++i) {
    if (const PassId pass = pass_of(i); pass.valid()) ++first_[pass.index() + 1];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  rows_.resize(first_.back());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < kernels; ++i) {
    if (const PassId pass = pass_of(i); pass.valid()) {
      rows_[next[pass.index()]++] = static_cast<uint32_t>(i);
    }
  }
}

const std::vector<size_t>& PassLayers::cuts(size_t pass) {
  static const std::vector<size_t> none;
  if (undivided_[pass]) return none;
  const auto rows = kernels(pass);
  std::vector<uint32_t> tokens(rows.size());
  size_t hash = rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    tokens[i] = trace_.kernels.name[rows[i]].value;
    hash = trace::hash_mix(hash, tokens[i]);
  }
  const auto [known, fresh] = known_cuts_.try_emplace(hash);
  if (fresh) {
    KernelSequence sequence(trace_, names_, {}, {});
    for (const uint32_t kernel : rows) sequence.add({kernel, false});
    known->second = layer_cuts(tokens, find_layer_beats(sequence), find_layer_period(tokens));
  }
  return known->second;
}

}  // namespace llmprof::analysis
