#include "analysis/detection/vision_passes.h"

#include <optional>

namespace llmprof::analysis {
namespace {

constexpr uint32_t kFewestLayers = 4;
// The host asks for the next kernel of a pass sooner, and for another thing's later.
constexpr Nanoseconds kTogether = 1'000'000;

// Positions between two forward passes.
struct Between {
  uint32_t begin = 0;
  uint32_t end = 0;
};

std::optional<uint32_t> first_convolution(const KernelSequence& sequence, uint32_t begin,
                                          uint32_t end) {
  for (uint32_t at = begin; at < end; ++at) {
    if (sequence.convolution(at)) return at;
  }
  return std::nullopt;
}

uint32_t end_of_pass(const KernelSequence& sequence, uint32_t last_beat, uint32_t limit) {
  uint32_t end = last_beat + 1;
  for (uint32_t at = end; at < limit; ++at) {
    const KernelClass kernel_class = sequence.kernel_class(at);
    if (kernel_class == KernelClass::gemm || kernel_class == KernelClass::gemv) end = at + 1;
  }
  while (end < limit && sequence.asked(end) - sequence.asked(end - 1) < kTogether) ++end;
  return end;
}

std::optional<VisionPass> vision_pass(const KernelSequence& sequence,
                                      std::span<const LayerBeat> beats, const Between& between) {
  if (beats.size() < kFewestLayers) return std::nullopt;
  const auto begin = first_convolution(sequence, between.begin, beats.front().first);
  if (!begin) return std::nullopt;
  return VisionPass{*begin, end_of_pass(sequence, beats.back().last, between.end),
                    static_cast<uint32_t>(beats.size())};
}

}  // namespace

std::vector<VisionPass> find_vision_passes(const KernelSequence& sequence,
                                           std::span<const LayerBeat> beats,
                                           std::span<const ForwardPass> passes) {
  std::vector<VisionPass> found;
  size_t beat = 0;
  for (size_t i = 0; i <= passes.size(); ++i) {
    const Between between{
        i == 0 ? 0 : passes[i - 1].end,
        i == passes.size() ? static_cast<uint32_t>(sequence.size()) : passes[i].begin};
    while (beat < beats.size() && beats[beat].first < between.begin) ++beat;
    const size_t first = beat;
    while (beat < beats.size() && !beats[beat].replay && beats[beat].last < between.end) ++beat;
    if (auto pass = vision_pass(sequence, beats.subspan(first, beat - first), between)) {
      found.push_back(*pass);
    }
  }
  return found;
}

}  // namespace llmprof::analysis
