#include "analysis/detection/pass_kind.h"

#include <algorithm>
#include <map>

namespace llmprof {
namespace {

// Twice the threads in the middle kernel: no decode step grows so fast with its context.
constexpr uint64_t kLarger = 2;
// A pass with new sequences belongs to the engine's steps before it only if it follows soon.
constexpr Nanoseconds kBreak = 100'000'000;

// Threads of a model's smallest and largest pass.
struct Extremes {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
};

class Kinds {
 public:
  Kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
        std::span<const PassSize> sizes)
      : sequence_(sequence), passes_(passes), sizes_(sizes) {
    for (size_t i = 0; i < passes.size(); ++i) {
      if (passes[i].replay() || sizes[i].threads == 0) continue;
      Extremes& model = models_[passes[i].layers];
      model.least = std::min(model.least, sizes[i].threads);
      model.most = std::max(model.most, sizes[i].threads);
    }
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
    for (size_t i = 1; i < passes_.size(); ++i) {
      if (found.passes[i].kind == StepKind::prefill && carries_on(found.passes, i)) {
        found.passes[i].kind = StepKind::mixed;
      }
    }
    found.told_apart = std::any_of(found.passes.begin(), found.passes.end(), [&](const auto& p) {
      return p.kind != found.passes.front().kind;
    });
    found.serving = is_serving(found.passes);
    return found;
  }

 private:
  [[nodiscard]] bool takes_prompts(size_t row) const {
    const PassSize& size = sizes_[row];
    if (passes_[row].replay()) return false;
    if (size.tokens && size.sequences) return *size.tokens > *size.sequences;
    const auto model = models_.find(passes_[row].layers);
    if (model != models_.end() && model->second.most >= kLarger * model->second.least) {
      return size.threads >= kLarger * model->second.least;
    }
    const bool single = size.tokens && *size.tokens == 1;
    return !single && !repeats(row);
  }

  // Kernel by kernel as the pass before or behind it.
  [[nodiscard]] bool repeats(size_t row) const {
    const bool before = row > 0 && sizes_[row - 1].names == sizes_[row].names;
    return before || (row + 1 < sizes_.size() && sizes_[row + 1].names == sizes_[row].names);
  }

  [[nodiscard]] bool soon_after(size_t row) const {
    return passes_[row].begin == passes_[row - 1].end &&
           sequence_.asked(passes_[row].begin) - sequence_.asked(passes_[row - 1].end - 1) < kBreak;
  }

  // Of a pass with prompt tokens in it: the sequences of the step before are in it too if the step
  // behind it has no more sequences than it has. A prefill alone would leave them waiting, to be
  // added again behind it.
  [[nodiscard]] bool carries_on(std::span<const PassKind> kinds, size_t row) const {
    if (row + 1 >= kinds.size() || !soon_after(row)) return false;
    if (!kinds[row].batch || !kinds[row - 1].batch || !kinds[row + 1].batch) return false;
    const auto distance = [](uint64_t a, uint64_t b) { return a > b ? a - b : b - a; };
    const uint64_t here = *kinds[row].batch;
    const uint64_t behind = *kinds[row + 1].batch;
    return here > 1 && distance(behind, here) < distance(behind, here + *kinds[row - 1].batch);
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
  std::map<uint32_t, Extremes> models_;  // by number of layers
};

}  // namespace

PassKinds tell_kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
                     std::span<const PassSize> sizes) {
  return Kinds(sequence, passes, sizes).tell();
}

}  // namespace llmprof
