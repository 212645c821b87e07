#include "analysis/detection/evidence.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::make_reason;
using profile::ReasonKind;

using profile::FindingValues;

double part_over_whole(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

FindingValues share_of(uint64_t part, uint64_t whole) {
  const double share = part == whole ? 1 : part_over_whole(part, whole);
  return FindingValues().add("share", profile::Share{share});
}

// The last GEMM of a pass, after its layers, takes clearly longer than the median GEMM in them.
bool ends_with_large_product(const KernelSequence& sequence, const ForwardPass& pass) {
  std::vector<Nanoseconds> in_layers;
  Nanoseconds last = 0;
  for (uint32_t at = pass.first_beat; at < pass.end; ++at) {
    if (!is_product(sequence.kernel_class(at))) continue;
    if (at > pass.last_beat) {
      last = sequence.time(at);
    } else {
      in_layers.push_back(sequence.time(at));
    }
  }
  return last > 0 && !in_layers.empty() &&
         last >= threshold::kClearlyMore * median(std::span(in_layers));
}

double steps_per_prefill(std::span<const ForwardPass> passes) {
  double steps = 0;
  double prefills = 0;
  for (size_t i = 0; i < passes.size();) {
    const ForwardPass& prefill = passes[i++];
    if (prefill.kind == StepKind::decode) continue;
    const size_t first = i;
    while (i < passes.size() && passes[i].kind == StepKind::decode &&
           (passes[i].replay() || passes[i].layers == prefill.layers)) {
      ++i;
    }
    steps += static_cast<double>(i - first);
    // If a prompt is in pieces, or there are several, steps follow only the last one.
    if (i == passes.size() || i > first) ++prefills;
  }
  return prefills > 0 ? steps / prefills : 0;
}

}  // namespace

bool TokenEvidence::of_llm() const {
  const bool several = steps_per_prefill >= threshold::kSeveral;
  const bool decodes = several && steps_per_prefill * size_step >= threshold::kClearlyDecode;
  // State-space models also convolve, but otherwise hardly resemble image networks.
  if (convolves) return decodes && chooses_tokens && embeds_tokens;
  if (keeps_cache || decodes) return true;
  if (chooses_tokens && (one_token_each || (embeds_tokens && has_vocabulary))) return true;
  return several && (chooses_tokens || embeds_tokens);
}

int TokenEvidence::signs() const {
  const std::array speak = {keeps_cache, chooses_tokens, embeds_tokens, one_token_each,
                            steps_per_prefill >= threshold::kSeveral};
  return static_cast<int>(std::ranges::count(speak, true));
}

TokenEvidence find_token_evidence(const KernelSequence& sequence,
                                  std::span<const ForwardPass> passes, const PassKinds& kinds) {
  constexpr std::array kOfPasses = {&TokenEvidence::convolves,      &TokenEvidence::keeps_cache,
                                    &TokenEvidence::chooses_tokens, &TokenEvidence::embeds_tokens,
                                    &TokenEvidence::has_vocabulary, &TokenEvidence::one_token_each};
  std::array<int, kOfPasses.size()> times{};  // counts of passes with known kernels
  int known = 0;
  for (const ForwardPass& pass : passes) {
    if (pass.replay()) continue;
    const PassSize& size = pass.size;
    TokenEvidence own;
    own.chooses_tokens = pass.selection.has_value();
    own.embeds_tokens = pass.embedding.has_value();
    own.one_token_each = size.grows || (size.tokens && size.tokens == size.sequences);
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      own.convolves |= sequence.convolution(at);
      own.keeps_cache |= sequence.has(at, KernelTrait::kv_cache);
      if (at >= pass.first_beat && at <= pass.last_beat) continue;
      own.chooses_tokens |= sequence.kernel_class(at) == KernelClass::sampling;
      own.embeds_tokens |= sequence.kernel_class(at) == KernelClass::gather;
    }
    own.has_vocabulary = own.chooses_tokens && ends_with_large_product(sequence, pass);
    ++known;
    for (size_t i = 0; i < times.size(); ++i) times[i] += own.*kOfPasses[i] ? 1 : 0;
  }
  TokenEvidence evidence;
  for (size_t i = 0; i < times.size(); ++i) evidence.*kOfPasses[i] = 2 * times[i] > known;
  evidence.steps_per_prefill = steps_per_prefill(passes);
  evidence.size_step = kinds.size_step;
  return evidence;
}

void DetectionEvidence::add(const ForwardPasses& found, const PassKinds& kinds,
                            const TokenEvidence& tokens) {
  signs_of_tokens = std::max(signs_of_tokens, tokens.signs());
  layers += found.layers;
  layers_in_passes += found.layers_in_passes;
  passes += found.passes.size();
  vision_passes += found.vision.size();
  for (const VisionPass& vision : found.vision) vision_layers += vision.layers;
  distinguished = distinguished && kinds.distinguished;
  by_ranges = by_ranges && found.basis == ForwardPasses::Basis::ranges;
  named = named && found.basis != ForwardPasses::Basis::structure;
  std::unordered_map<uint64_t, uint32_t> times;
  for (const ForwardPass& pass : found.passes) ++times[pass.size.names];
  for (const ForwardPass& pass : found.passes) {
    if (pass.start_seen && pass.end_seen) ++passes_of_known_ends;
    kernels += pass.length();
    if (times[pass.size.names] > 1) kernels_repeating += pass.length();
    if (pass.replay() || std::ranges::count(layers_a_pass, pass.layers) > 0) continue;
    layers_a_pass.push_back(pass.layers);
  }
}

ConfidenceLevel DetectionEvidence::level(bool of_llm) const {
  const std::array checks = {
      named, part_over_whole(layers_in_passes, layers) >= threshold::kAllButAFew,
      part_over_whole(kernels_repeating, kernels) >= threshold::kMost, of_llm && distinguished,
      of_llm && (by_ranges || signs_of_tokens >= static_cast<int>(threshold::kSeveral))};
  const auto held = static_cast<size_t>(std::ranges::count(checks, true));
  if (held == checks.size()) return ConfidenceLevel::high;
  return held > checks.size() / 2 ? ConfidenceLevel::medium : ConfidenceLevel::low;
}

profile::Reasons DetectionEvidence::reasons(bool of_llm) const {
  using enum ReasonKind;
  FindingValues found = FindingValues().add("passes", passes).add("named", named);
  for (const uint32_t each : layers_a_pass) found.add("layers", each);
  profile::Reasons reasons = {
      make_reason(by_ranges ? passes_between_ranges : passes_in_sequence, found),
      make_reason(kernels_repeat, share_of(kernels_repeating, kernels))};
  if (!by_ranges) {
    reasons.push_back(make_reason(passes_with_known_ends, share_of(passes_of_known_ends, passes)));
  }
  if (layers_in_passes < layers) {
    FindingValues outside =
        FindingValues().add("layers_outside", layers - layers_in_passes).add("layers", layers);
    if (vision_passes > 0) {
      outside.add("vision_layers", vision_layers).add("vision_passes", vision_passes);
    }
    reasons.push_back(make_reason(layers_outside_passes, outside));
  }
  if (!named) reasons.push_back(make_reason(repetition_alone));
  if (!of_llm) {
    reasons.push_back(make_reason(no_sign_of_tokens));
  } else if (!distinguished) {
    reasons.push_back(make_reason(kind_is_a_guess));
  }
  return reasons;
}

}  // namespace llmprof::analysis
