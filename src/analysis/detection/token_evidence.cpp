#include "analysis/detection/token_evidence.h"

#include <vector>

#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// Fewer steps behind a larger pass also occur where a program takes inputs of different sizes.
constexpr double kSeveralSteps = 3;
// Steps behind a pass, times how much smaller they are: without any sign of tokens, less than this
// also occurs where batches change (those of diffusion models are halved for some of 50 steps).
constexpr double kClearlyDecode = 100;

// The last product of a pass, behind its layers, takes twice as long as the middle one in them.
bool ends_with_large_product(const KernelSequence& sequence, const ForwardPass& pass) {
  std::vector<Nanoseconds> in_layers;
  Nanoseconds last = 0;
  for (uint32_t at = pass.begin; at < pass.end; ++at) {
    if (!is_product(sequence.kernel_class(at))) continue;
    const Nanoseconds time = sequence.end(at) - sequence.start(at);
    if (at > pass.last_beat) last = time;
    if (at >= pass.first_beat && at <= pass.last_beat) in_layers.push_back(time);
  }
  return last > 0 && !in_layers.empty() && last >= 2 * nearest_rank(in_layers, 0.5);
}

class Counted {
 public:
  void add(bool yes) { ++(yes ? yes_ : no_); }
  [[nodiscard]] bool mostly() const { return yes_ > no_; }

 private:
  size_t yes_ = 0;
  size_t no_ = 0;
};

double steps_per_prefill(std::span<const ForwardPass> passes, const PassKinds& kinds) {
  double steps = 0;
  double prefills = 0;
  for (size_t i = 0; i < passes.size();) {
    if (kinds.passes[i].kind == StepKind::decode) {
      ++i;
      continue;
    }
    const size_t prefill = i++;
    size_t behind = 0;
    while (i < passes.size() && kinds.passes[i].kind == StepKind::decode &&
           (passes[i].replay() || passes[i].layers == passes[prefill].layers)) {
      ++behind;
      ++i;
    }
    // Prompts in pieces, or several prompts: the last one is followed by steps.
    const bool another = i < passes.size() && behind == 0;
    steps += static_cast<double>(behind);
    if (!another) ++prefills;
  }
  return prefills > 0 ? steps / prefills : 0;
}

}  // namespace

bool TokenEvidence::of_llm() const {
  const bool decodes =
      steps_per_prefill >= kSeveralSteps && steps_per_prefill * size_step >= kClearlyDecode;
  // State-space models convolve, too; but little else of theirs is like a network for images.
  if (convolves) return decodes && chooses_tokens && embeds_tokens;
  if (keeps_cache || decodes) return true;
  if (chooses_tokens && (one_token_each || (embeds_tokens && has_vocabulary))) return true;
  return steps_per_prefill >= kSeveralSteps && (chooses_tokens || embeds_tokens);
}

int TokenEvidence::signs() const {
  int count = 0;
  for (const bool sign : {keeps_cache, chooses_tokens, embeds_tokens, one_token_each,
                          steps_per_prefill >= kSeveralSteps}) {
    count += sign ? 1 : 0;
  }
  return count;
}

TokenEvidence find_token_evidence(const KernelSequence& sequence,
                                  std::span<const ForwardPass> passes,
                                  std::span<const PassSize> sizes, const PassKinds& kinds) {
  Counted convolves;
  Counted keeps_cache;
  Counted chooses;
  Counted embeds;
  Counted vocabulary;
  Counted one_each;
  for (size_t i = 0; i < passes.size(); ++i) {
    const ForwardPass& pass = passes[i];
    if (pass.replay()) continue;
    bool convolution = false;
    bool cache = false;
    bool choice = pass.selection.has_value();
    bool gather = pass.embedding.has_value();
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      convolution = convolution || sequence.convolution(at);
      cache = cache || sequence.has(at, KernelTrait::kv_cache);
      if (at >= pass.first_beat && at <= pass.last_beat) continue;
      choice = choice || sequence.kernel_class(at) == KernelClass::sampling;
      gather = gather || sequence.kernel_class(at) == KernelClass::gather;
    }
    convolves.add(convolution);
    keeps_cache.add(cache);
    chooses.add(choice);
    embeds.add(gather);
    vocabulary.add(choice && ends_with_large_product(sequence, pass));
    one_each.add(sizes[i].grows || (sizes[i].tokens && sizes[i].tokens == sizes[i].sequences));
  }
  TokenEvidence found;
  found.convolves = convolves.mostly();
  found.keeps_cache = keeps_cache.mostly();
  found.chooses_tokens = chooses.mostly();
  found.embeds_tokens = embeds.mostly();
  found.has_vocabulary = vocabulary.mostly();
  found.one_token_each = one_each.mostly();
  found.steps_per_prefill = steps_per_prefill(passes, kinds);
  found.size_step = kinds.size_step;
  return found;
}

}  // namespace llmprof::analysis
