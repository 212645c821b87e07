#include "analysis/detection/pass_kind.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/stages/thresholds.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// Sizes of a model's passes. If there are two kinds, the step between them is larger than any step
// between decode steps of few and of many sequences.
class Sizes {
 public:
  void add(double size) { sizes_.push_back(size); }
  void settle() {
    std::sort(sizes_.begin(), sizes_.end());
    double largest = threshold::kClearlyMore;
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
  Kinds(const KernelSequence& sequence, std::span<ForwardPass> passes)
      : sequence_(sequence), passes_(passes) {
    for (const ForwardPass& pass : passes) {
      work_.push_back(static_cast<double>(pass.size.threads));
    }
    compare();
    // If kernels of known classes have one size or none, all kernels together may still have two.
    const auto unknown = [](const ForwardPass& pass) {
      return !pass.replay() && pass.size.threads == 0;
    };
    if (!any_of_two_kinds() || std::ranges::any_of(passes, unknown)) {
      work_ = relative_sizes(sequence, passes);
      compare();
    }
    learn_repeated();
    turns_ = find_turns(layers_of(passes));
  }

  PassKinds classify() {
    for (size_t i = 0; i < passes_.size(); ++i) {
      ForwardPass& pass = passes_[i];
      pass.batch = pass.size.sequences;
      pass.kind = takes_prompts(i) ? StepKind::prefill : StepKind::decode;
      if (pass.kind == StepKind::decode && !pass.batch) pass.batch = pass.size.tokens;
    }
    // A draft model counts its sequences differently from the verifying model.
    if (!turns_) mark_all_mixed();
    PassKinds found;
    found.distinguished = distinguished();
    found.speculative = turns_.has_value();
    found.serving = !turns_ && is_serving();
    for (const auto& [layers, model] : models_) {
      found.size_step = std::max(found.size_step, model.step());
    }
    return found;
  }

 private:
  // A hidden pass has no size; next to others, it is a decode step.
  [[nodiscard]] bool distinguished() const {
    const auto has_tokens = [](const ForwardPass& pass) { return pass.size.tokens.has_value(); };
    const bool tokens = std::ranges::all_of(passes_, has_tokens);
    if (tokens && std::ranges::all_of(passes_, [](const ForwardPass& pass) {
          return pass.size.sequences.has_value();
        })) {
      return true;
    }
    const auto hidden = std::ranges::count_if(passes_, &ForwardPass::replay);
    const bool two_sizes =
        tokens || any_of_two_kinds() || (hidden > 0 && hidden < std::ssize(passes_));
    return two_sizes && std::ranges::any_of(passes_, [&](const ForwardPass& pass) {
             return pass.kind != passes_.front().kind;
           });
  }

  void compare() {
    models_.clear();
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (!passes_[i].replay() && work_[i] > 0) models_[passes_[i].layers].add(work_[i]);
    }
    for (auto& [layers, model] : models_) model.settle();
  }

  [[nodiscard]] bool any_of_two_kinds() const {
    return std::ranges::any_of(models_, [](const auto& model) { return model.second.two_kinds(); });
  }

  [[nodiscard]] bool takes_prompts(size_t row) const {
    const PassSize& size = passes_[row].size;
    if (passes_[row].replay()) return false;
    // A verifying model takes several tokens per sequence in every step: at most the drafts of one
    // turn, the token before them and the one after.
    if (turns_) {
      return size.tokens && size.sequences
                 ? *size.tokens > *size.sequences * (turns_->most_drafts + 2)
                 : of_two_kinds(row) && is_large(row);
    }
    if (size.grows) return false;
    if (size.tokens && size.sequences) return *size.tokens > *size.sequences;
    if (of_two_kinds(row)) return is_large(row);
    return size.tokens ? *size.tokens > 1 : !repeats(row) && !is_cut_repeat(row);
  }

  // Tracing windows cut passes, so not both ends are visible. A pass with hardly any kernels other
  // than those of repeating passes is one of these anyway.
  [[nodiscard]] bool is_cut_repeat(size_t row) const {
    if (repeated_.empty()) return false;
    const ForwardPass& pass = passes_[row];
    size_t others = 0;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      if (!repeated_.contains(sequence_.name(at).value)) ++others;
    }
    return others * threshold::kHardlyEver <= pass.length();
  }

  // Windows may have cut each pass at a different place, so no two are equal. Most still consist of
  // the repeating kernels, because windows mostly see what a program mostly does.
  void learn_repeated() {
    const TracingPeriods periods(sequence_.trace());
    const bool windows = std::ranges::any_of(
        periods.untraced(sequence_.process()),
        [](const auto& period) { return period.start != INT64_MIN && period.end != INT64_MAX; });
    if (!windows) return;
    std::map<uint32_t, size_t> passes_with;
    size_t launched = 0;
    for (const ForwardPass& pass : passes_) {
      if (pass.replay()) continue;
      ++launched;
      std::set<uint32_t> names;
      for (uint32_t at = pass.begin; at < pass.end; ++at) names.insert(sequence_.name(at).value);
      for (const uint32_t name : names) ++passes_with[name];
    }
    if (launched < threshold::kSeveral) return;
    for (const auto& [name, passes] : passes_with) {
      if (2 * passes > launched) repeated_.insert(name);
    }
  }

  // Equals the previous or next pass kernel by kernel.
  [[nodiscard]] bool repeats(size_t row) const {
    const auto as = [&](size_t other) { return passes_[other].size.names; };
    return (row > 0 && as(row - 1) == as(row)) ||
           (row + 1 < passes_.size() && as(row + 1) == as(row));
  }

  [[nodiscard]] bool follows(size_t row) const {
    return passes_[row].begin == passes_[row - 1].end;
  }

  // A pass with new sequences belongs to the engine's previous steps only if it follows soon,
  // compared with the duration of the previous pass.
  [[nodiscard]] bool soon_after(size_t row) const {
    if (!follows(row)) return false;
    const ForwardPass& before = passes_[row - 1];
    const Nanoseconds took = sequence_.end(before.end - 1) - sequence_.start(before.begin);
    return sequence_.asked(passes_[row].begin) - sequence_.asked(before.end - 1) <
           threshold::kPaused * took;
  }

  void mark_all_mixed() {
    mark_begun_prompts();
    for (size_t first = 0; first < passes_.size();) {
      // Consecutive passes with prompt tokens.
      size_t end = first;
      while (end < passes_.size() && passes_[end].kind == StepKind::prefill &&
             (end == first || soon_after(end))) {
        ++end;
      }
      if (end > first) mark_mixed(first, end);
      first = std::max(end, first + 1);
    }
  }

  // An engine may split a batch into passes with equally many tokens per sequence. The first then
  // take one token of each sequence, in decode or prompt, and the rest of the prompts follows. Such
  // a pass is as small as a decode step, and some of its tokens get no successor.
  void mark_begun_prompts() {
    for (size_t i = 0; i < passes_.size(); ++i) {
      ForwardPass& pass = passes_[i];
      const auto tokens = pass.size.tokens;
      const bool unfinished = pass.batch && tokens && *tokens > *pass.batch;
      if (pass.kind != StepKind::prefill || !unfinished || is_large(i)) continue;
      const size_t last = std::min(passes_.size(), i + 1 + threshold::kPassesOfBatch);
      for (size_t next = i + 1; next < last && soon_after(next); ++next) {
        if (passes_[next].kind != StepKind::prefill || !is_large(next)) continue;
        pass.kind = StepKind::mixed;
        break;
      }
    }
  }

  // The model has passes of two sizes.
  [[nodiscard]] bool of_two_kinds(size_t row) const {
    const auto model = models_.find(passes_[row].layers);
    return model != models_.end() && model->second.two_kinds();
  }

  // Clearly larger than the model's decode steps; always true if there is only one size.
  [[nodiscard]] bool is_large(size_t row) const {
    return !of_two_kinds(row) || models_.at(passes_[row].layers).large(work_[row]);
  }

  // The decode step after passes with prompt tokens shows whether these also decode the previous
  // pass's sequences. If they do, it has as many sequences as the last of them; otherwise it has
  // the sum of all waiting sequences.
  void mark_mixed(size_t first, size_t end) {
    if (end >= passes_.size() || !passes_[end].batch || !follows(end)) return;
    uint64_t added_up = 0;
    for (size_t i = first; i < end; ++i) {
      if (!passes_[i].batch) return;
      added_up += *passes_[i].batch;
    }
    const bool runs_on = first > 0 && passes_[first - 1].batch && soon_after(first);
    const uint64_t before = runs_on ? *passes_[first - 1].batch : 0;
    const auto off = [&](uint64_t expected) {
      const uint64_t behind = *passes_[end].batch;
      return behind > expected ? behind - expected : expected - behind;
    };
    const uint64_t kept = off(*passes_[end - 1].batch);
    // A batch not larger than the previous decode step's probably belongs to the next request.
    if (before > 0 && *passes_[first].batch > before && kept < off(before + added_up)) {
      passes_[first].kind = StepKind::mixed;
    }
    if (kept >= off(added_up)) return;
    for (size_t i = first + 1; i < end; ++i) {
      // A single sequence may be a long prompt in pieces.
      if (*passes_[i].batch > 1 && *passes_[i - 1].batch > 1) passes_[i].kind = StepKind::mixed;
    }
  }

  // An engine gathers the rows that get a token, changes the batch from step to step, or mixes.
  [[nodiscard]] bool is_serving() const {
    size_t gathers = 0;
    for (size_t i = 0; i < passes_.size(); ++i) {
      const ForwardPass& pass = passes_[i];
      if (pass.row_gather) ++gathers;
      if (pass.kind == StepKind::mixed) return true;
      if (i == 0 || !follows(i)) continue;
      const ForwardPass& before = passes_[i - 1];
      const bool steps = pass.kind == StepKind::decode && before.kind == StepKind::decode;
      if (steps && pass.size.tokens && before.size.tokens &&
          pass.size.tokens != before.size.tokens) {
        return true;
      }
    }
    return 2 * gathers > passes_.size();
  }

  const KernelSequence& sequence_;
  std::span<ForwardPass> passes_;
  std::vector<double> work_;          // of each pass; 0 if it is hidden
  std::set<uint32_t> repeated_;       // names in most passes, if windows cut some
  std::map<uint32_t, Sizes> models_;  // by number of layers
  std::optional<ModelTurns> turns_;   // of two models whose passes alternate
};

}  // namespace

PassKinds classify_passes(const KernelSequence& sequence, std::span<ForwardPass> passes) {
  return Kinds(sequence, passes).classify();
}

std::optional<ModelTurns> find_turns(std::span<const uint32_t> layers) {
  const std::set<uint32_t> models(layers.begin(), layers.end());
  if (models.size() != 2 || models.contains(0)) return std::nullopt;
  ModelTurns found{*models.begin(), *models.rbegin()};
  uint64_t drafts = 0;
  uint64_t verifications = 0;
  uint64_t turns = 0;
  uint64_t in_turn = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool verifies = layers[i] == found.verify_layers;
    ++(verifies ? verifications : drafts);
    if (verifies && i > 0 && layers[i - 1] == found.draft_layers) ++turns;
    in_turn = verifies ? 0 : in_turn + 1;
    found.most_drafts = std::max(found.most_drafts, in_turn);
  }
  // Verify passes may follow each other at the end of a request, but most do not.
  if (turns < threshold::kSeveral || turns * 2 < verifications || drafts < turns) {
    return std::nullopt;
  }
  return found;
}

std::vector<bool> in_prefill_before(std::span<const ForwardPass> passes, const ModelTurns& turns) {
  std::vector<bool> belongs(passes.size(), false);
  const auto is = [&](size_t row, uint32_t layers, StepKind kind) {
    return row < passes.size() && passes[row].layers == layers && passes[row].kind == kind;
  };
  for (size_t row = 0; row < passes.size(); ++row) {
    if (!is(row, turns.draft_layers, StepKind::prefill)) continue;
    belongs[row] = row > 0 && is(row - 1, turns.verify_layers, StepKind::prefill);
    size_t verified = row + 1;
    while (is(verified, turns.draft_layers, StepKind::decode)) ++verified;
    if (belongs[row] || !is(verified, turns.verify_layers, StepKind::prefill)) continue;
    for (size_t drafted = row + 1; drafted <= verified; ++drafted) belongs[drafted] = true;
  }
  return belongs;
}

std::optional<Speculation> find_speculation(const std::vector<Step>& steps) {
  std::vector<uint32_t> layers;
  for (const Step& step : steps) {
    if (step.kind == StepKind::decode) layers.push_back(step.layers);
  }
  const auto turns = find_turns(layers);
  if (!turns) return std::nullopt;
  Speculation found{*turns, 0, 0, 0, 0};
  for (const Step& step : steps) {
    if (step.kind != StepKind::decode) continue;
    const bool verifies = step.layers == found.verify_layers;
    ++(verifies ? found.verifications : found.drafts);
    (verifies ? found.verify_time : found.draft_time) += step.work.kernel_sum;
  }
  return found;
}

}  // namespace llmprof::analysis
