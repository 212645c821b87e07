#include "analysis/detection/detection_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Never 100 % of less than all.
std::string percent(uint64_t part, uint64_t whole) {
  constexpr double kHundred = 100;
  constexpr double kAlmostAll = 99.9;
  const double exact = kHundred * share(part, whole);
  if (part == whole) return "all";
  return fmt::format("{:.1f} %", std::min(exact, kAlmostAll));
}

}  // namespace

void DetectionEvidence::add(const ForwardPasses& found, std::span<const PassSize> sizes,
                            const PassKinds& kinds, const TokenEvidence& tokens) {
  signs_of_tokens = std::max(signs_of_tokens, tokens.signs());
  layers += found.layers;
  layers_in_passes += found.layers_in_passes;
  passes += found.passes.size();
  for (const VisionPass& vision : found.vision) {
    ++vision_passes;
    vision_layers += vision.layers;
  }
  told_apart = told_apart && kinds.told_apart;
  by_ranges = by_ranges && found.basis == ForwardPasses::Basis::ranges;
  named = named && found.basis != ForwardPasses::Basis::structure;
  std::unordered_map<uint64_t, uint32_t> times;
  for (const PassSize& size : sizes) ++times[size.names];
  for (size_t i = 0; i < found.passes.size(); ++i) {
    const ForwardPass& pass = found.passes[i];
    if (pass.start_seen && pass.end_seen) ++passes_of_known_ends;
    kernels += pass.end - pass.begin;
    if (times[sizes[i].names] > 1) kernels_repeating += pass.end - pass.begin;
    if (pass.replay()) continue;
    const auto known = std::find(layers_a_pass.begin(), layers_a_pass.end(), pass.layers);
    if (known == layers_a_pass.end()) layers_a_pass.push_back(pass.layers);
  }
}

ConfidenceLevel DetectionEvidence::level(bool of_llm) const {
  constexpr double kAlmostAll = 0.98;
  constexpr double kMost = 0.5;
  constexpr int kSeveralSigns = 3;
  constexpr int kAllChecks = 5;
  constexpr int kMostChecks = 3;
  int checks = 0;
  for (const bool holds : {named, share(layers_in_passes, layers) >= kAlmostAll,
                           share(kernels_repeating, kernels) >= kMost, of_llm && told_apart,
                           of_llm && (by_ranges || signs_of_tokens >= kSeveralSigns)}) {
    checks += holds ? 1 : 0;
  }
  if (checks == kAllChecks) return ConfidenceLevel::high;
  return checks >= kMostChecks ? ConfidenceLevel::medium : ConfidenceLevel::low;
}

std::string DetectionEvidence::in_words(bool of_llm) const {
  std::string words =
      fmt::format("{} forward {} of {} {}layers, {}", passes, plural_of(passes, "pass"),
                  fmt::join(layers_a_pass, " or "), named ? "attention " : "",
                  by_ranges ? "between the ranges of the engine's model runner; kernels tell their "
                              "kind"
                            : "found in the kernel sequence");
  words += fmt::format("; {} of their kernels are in passes that repeat kernel by kernel",
                       percent(kernels_repeating, kernels));
  if (!by_ranges) {
    words += fmt::format("; {} of the passes show both ends (embedding, token selection or graph)",
                         percent(passes_of_known_ends, passes));
  }
  if (layers_in_passes < layers) {
    words += fmt::format("; {} of {} attention layers are outside of them",
                         layers - layers_in_passes, layers);
    if (vision_passes > 0) {
      words += fmt::format(", {} of them in {} vision {}, each beginning with a convolution",
                           vision_layers, vision_passes, plural_of(vision_passes, "pass"));
    }
  }
  if (!named) words += "; they are found by what repeats alone, no names of kernels confirm them";
  if (!of_llm) {
    words +=
        "; nothing shows that they generate tokens: no run of steps behind a larger pass with "
        "tokens "
        "embedded or chosen, no KV cache";
  } else if (!told_apart) {
    words += "; all passes have the same size, so their kind is a guess";
  }
  return words;
}

}  // namespace llmprof::analysis
