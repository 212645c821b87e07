#include "analysis/detection/pass_kind.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/detection/relative_size.h"
#include "analysis/detection/speculation.h"
#include "analysis/tracing/tracing_periods.h"

namespace llmprof::analysis {
namespace {

// Twice the threads in the middle kernel: no decode step grows so fast with its context.
constexpr double kLarger = 2;
// Passes that an engine splits a batch into, one for each group of sequences.
constexpr size_t kPassesOfABatch = 4;
// One kernel in so many may be another.
constexpr size_t kSeldomOther = 50;
// Fewer passes than this do not show what most are.
constexpr size_t kPassesToCompare = 3;
// A pass with new sequences belongs to the engine's steps before it only if it follows soon.
constexpr Nanoseconds kBreakBetweenPasses = 100'000'000;

// Sizes of a model's passes. Where there are two kinds, the step from the larger of the one to the
// smaller of the other is larger than any among decode steps of few and of many sequences.
class Sizes {
 public:
  void add(double size) { sizes_.push_back(size); }
  void settle() {
    std::sort(sizes_.begin(), sizes_.end());
    double largest = kLarger;
    for (size_t i = 1; i < sizes_.size(); ++i) {
      const double step = sizes_[i] / sizes_[i - 1];
      if (step < largest) continue;
      largest = step;
      first_large_ = sizes_[i];
    }
    if (two_kinds()) step_ = largest;
  }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] bool two_kinds() const { return first_large_ > 0; }
  [[nodiscard]] bool large(double size) const { return size >= first_large_; }

 private:
  std::vector<double> sizes_;
  double first_large_ = 0;
  double step_ = 0;
};

class Kinds {
 public:
  Kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
        std::span<const PassSize> sizes)
      : sequence_(sequence), passes_(passes), sizes_(sizes) {
    work_.resize(passes.size());
    for (size_t i = 0; i < passes.size(); ++i) work_[i] = static_cast<double>(sizes[i].threads);
    compare();
    // Where the kernels whose classes are known are of one size, all of them together may not be.
    if (!any_of_two_kinds()) {
      work_ = relative_sizes(sequence, passes);
      compare();
    }
    learn_repeated();
    std::vector<uint32_t> layers;
    layers.reserve(passes.size());
    for (const ForwardPass& pass : passes) layers.push_back(pass.layers);
    turns_ = find_turns(layers);
  }

  PassKinds tell() {
    PassKinds found;
    found.passes.resize(passes_.size());
    for (size_t i = 0; i < passes_.size(); ++i) {
      PassKind& pass = found.passes[i];
      pass.tokens = sizes_[i].tokens;
      pass.batch = sizes_[i].sequences;
      pass.kind = takes_prompts(i) ? StepKind::prefill : StepKind::decode;
      if (pass.kind == StepKind::decode && !pass.batch) pass.batch = pass.tokens;
    }
    // What a draft model counts as its sequences is not what the other one does.
    if (!turns_) mark_all_mixed(found.passes);
    found.told_apart = counted() || (two_sizes() && differ(found.passes));
    found.speculative = turns_.has_value();
    found.serving = !turns_ && is_serving(found.passes);
    for (const auto& [layers, model] : models_) {
      found.size_step = std::max(found.size_step, model.step());
    }
    return found;
  }

 private:
  [[nodiscard]] bool counted() const {
    return std::all_of(sizes_.begin(), sizes_.end(),
                       [](const PassSize& size) { return size.tokens && size.sequences; });
  }
  void compare() {
    models_.clear();
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (!passes_[i].replay() && work_[i] > 0) models_[passes_[i].layers].add(work_[i]);
    }
    for (auto& [layers, model] : models_) model.settle();
  }
  [[nodiscard]] bool any_of_two_kinds() const {
    return std::any_of(models_.begin(), models_.end(),
                       [](const auto& model) { return model.second.two_kinds(); });
  }
  // A hidden pass has no size; beside others, it is a decode step.
  [[nodiscard]] bool two_sizes() const {
    const auto hidden = std::count_if(passes_.begin(), passes_.end(),
                                      [](const ForwardPass& pass) { return pass.replay(); });
    if (hidden > 0 && static_cast<size_t>(hidden) < passes_.size()) return true;
    const bool tokens = std::all_of(sizes_.begin(), sizes_.end(),
                                    [](const PassSize& size) { return size.tokens.has_value(); });
    return tokens || any_of_two_kinds();
  }
  static bool differ(std::span<const PassKind> kinds) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const PassKind& pass) { return pass.kind != kinds.front().kind; });
  }

  [[nodiscard]] bool takes_prompts(size_t row) const {
    const PassSize& size = sizes_[row];
    if (passes_[row].replay()) return false;
    // A model that verifies drafts takes several tokens of a sequence in every step.
    if (turns_) return takes_more_than_drafts(row);
    if (size.grows) return false;
    if (size.tokens && size.sequences) return *size.tokens > *size.sequences;
    const auto model = models_.find(passes_[row].layers);
    if (model != models_.end() && model->second.two_kinds()) {
      return model->second.large(work_[row]);
    }
    return size.tokens ? *size.tokens > 1 : !repeats(row) && !is_cut_repeat(row);
  }

  // A step of speculative decoding takes at most what was drafted in a turn, the token before it
  // and the one that follows.
  [[nodiscard]] bool takes_more_than_drafts(size_t row) const {
    const PassSize& size = sizes_[row];
    if (!size.tokens || !size.sequences) return is_large_of_two(row);
    return *size.tokens > *size.sequences * (turns_->most_drafts + 2);
  }

  // Windows of tracing cut passes, and so do not show both ends: a pass that has hardly any kernel
  // beside those of passes that repeat is one of them all the same.
  [[nodiscard]] bool is_cut_repeat(size_t row) const {
    if (repeated_.empty()) return false;
    const ForwardPass& pass = passes_[row];
    size_t others = 0;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      if (!repeated_.contains(sequence_.name(at).value)) ++others;
    }
    return others * kSeldomOther <= pass.end - pass.begin;
  }

  void learn_repeated() {
    const TracingPeriods periods(sequence_.trace());
    const auto& untraced = periods.untraced(sequence_.process());
    const bool windows = std::any_of(untraced.begin(), untraced.end(), [](const auto& period) {
      return period.start != INT64_MIN && period.end != INT64_MAX;
    });
    if (!windows) return;
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (passes_[i].replay() || !repeats(i)) continue;
      for (uint32_t at = passes_[i].begin; at < passes_[i].end; ++at) {
        repeated_.insert(sequence_.name(at).value);
      }
    }
    if (repeated_.empty()) learn_names_of_most();
  }

  // Windows may have cut each pass elsewhere: then no two are the same, and yet most are of the
  // kernels that repeat, because windows fall mostly on what a program mostly does.
  void learn_names_of_most() {
    std::map<uint32_t, size_t> passes_with;
    size_t launched = 0;
    for (const ForwardPass& pass : passes_) {
      if (pass.replay()) continue;
      ++launched;
      std::set<uint32_t> names;
      for (uint32_t at = pass.begin; at < pass.end; ++at) names.insert(sequence_.name(at).value);
      for (const uint32_t name : names) ++passes_with[name];
    }
    if (launched < kPassesToCompare) return;
    for (const auto& [name, passes] : passes_with) {
      if (2 * passes > launched) repeated_.insert(name);
    }
  }

  // Kernel by kernel as the pass before or after it.
  [[nodiscard]] bool repeats(size_t row) const {
    const bool before = row > 0 && sizes_[row - 1].names == sizes_[row].names;
    return before || (row + 1 < sizes_.size() && sizes_[row + 1].names == sizes_[row].names);
  }

  [[nodiscard]] bool soon_after(size_t row) const {
    return passes_follow(row) &&
           sequence_.asked(passes_[row].begin) - sequence_.asked(passes_[row - 1].end - 1) <
               kBreakBetweenPasses;
  }

  void mark_all_mixed(std::span<PassKind> kinds) const {
    mark_begun_prompts(kinds);
    for (size_t i = 0; i < kinds.size();) {
      const size_t end = end_of_prompts(kinds, i);
      if (end > i) mark_mixed(kinds, i, end);
      i = std::max(end, i + 1);
    }
  }

  // An engine may split a batch into passes of equally many tokens per sequence: the first then
  // take one token of each, of sequences in decode as of prompts, whose rest follows. Such a pass
  // is as small as a decode step, and some of its tokens get no successor.
  void mark_begun_prompts(std::span<PassKind> kinds) const {
    for (size_t i = 0; i < kinds.size(); ++i) {
      PassKind& pass = kinds[i];
      const bool unfinished = pass.batch && pass.tokens && *pass.tokens > *pass.batch;
      if (pass.kind != StepKind::prefill || !unfinished || is_large(i)) continue;
      for (size_t next = i + 1; next < kinds.size() && next <= i + kPassesOfABatch; ++next) {
        if (!soon_after(next)) break;
        if (kinds[next].kind != StepKind::prefill || !is_large(next)) continue;
        pass.kind = StepKind::mixed;
        break;
      }
    }
  }
  // Clearly larger than the model's decode steps; all are where there is one size only.
  [[nodiscard]] bool is_large(size_t row) const {
    const auto model = models_.find(passes_[row].layers);
    return model == models_.end() || !model->second.two_kinds() || is_large_of_two(row);
  }
  // No pass is where there is one size only.
  [[nodiscard]] bool is_large_of_two(size_t row) const {
    const auto model = models_.find(passes_[row].layers);
    return model != models_.end() && model->second.two_kinds() && model->second.large(work_[row]);
  }

  // After the passes with prompt tokens that follow each other from `row` on; `row` where there
  // are none.
  [[nodiscard]] size_t end_of_prompts(std::span<const PassKind> kinds, size_t row) const {
    size_t end = row;
    while (end < kinds.size() && kinds[end].kind == StepKind::prefill &&
           (end == row || soon_after(end))) {
      ++end;
    }
    return end;
  }

  // Whether passes with prompt tokens take along the sequences of the pass before, the decode step
  // after them tells: if they do, it has as many sequences as the last of them; if they do not,
  // all that were left waiting are added up in it.
  void mark_mixed(std::span<PassKind> kinds, size_t first, size_t end) const {
    if (end >= kinds.size() || !kinds[end].batch || !passes_follow(end)) return;
    uint64_t added_up = 0;
    for (size_t i = first; i < end; ++i) {
      if (!kinds[i].batch) return;
      added_up += *kinds[i].batch;
    }
    const bool runs_on = first > 0 && kinds[first - 1].batch && soon_after(first);
    const uint64_t before = runs_on ? *kinds[first - 1].batch : 0;
    const auto distance = [](uint64_t a, uint64_t b) { return a > b ? a - b : b - a; };
    const uint64_t behind = *kinds[end].batch;
    const uint64_t last = *kinds[end - 1].batch;
    const uint64_t kept = distance(behind, last);
    // A batch that is not larger than the decode step's before it is rather the next request's.
    if (before > 0 && *kinds[first].batch > before && kept < distance(behind, before + added_up)) {
      kinds[first].kind = StepKind::mixed;
    }
    if (kept >= distance(behind, added_up)) return;
    for (size_t i = first + 1; i < end; ++i) {
      // One sequence alone may be a long prompt in pieces.
      if (*kinds[i].batch > 1 && *kinds[i - 1].batch > 1) kinds[i].kind = StepKind::mixed;
    }
  }

  [[nodiscard]] bool passes_follow(size_t row) const {
    return passes_[row].begin == passes_[row - 1].end;
  }

  // An engine gathers the rows that get a token, changes the batch from step to step, or mixes.
  [[nodiscard]] bool is_serving(std::span<const PassKind> kinds) const {
    size_t gathers = 0;
    bool changes = false;
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (passes_[i].row_gather) ++gathers;
      if (kinds[i].kind == StepKind::mixed) changes = true;
      if (i == 0 || passes_[i].begin != passes_[i - 1].end) continue;
      const bool steps = kinds[i].kind == StepKind::decode && kinds[i - 1].kind == StepKind::decode;
      if (steps && kinds[i].tokens && kinds[i - 1].tokens) {
        changes = changes || *kinds[i].tokens != *kinds[i - 1].tokens;
      }
    }
    return changes || 2 * gathers > kinds.size();
  }

  const KernelSequence& sequence_;
  std::span<const ForwardPass> passes_;
  std::span<const PassSize> sizes_;
  std::vector<double> work_;          // of each pass; 0 where it is hidden
  std::set<uint32_t> repeated_;       // names in passes that repeat, where windows cut others
  std::map<uint32_t, Sizes> models_;  // by number of layers
  std::optional<ModelTurns> turns_;   // of two models, where passes take turns
};

}  // namespace

PassKinds tell_kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
                     std::span<const PassSize> sizes) {
  return Kinds(sequence, passes, sizes).tell();
}

}  // namespace llmprof::analysis
