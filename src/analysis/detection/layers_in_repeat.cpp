#include "analysis/detection/layers_in_repeat.h"

#include <map>
#include <vector>

namespace llmprof::analysis {
namespace {

// Share of the kernels that must occur equally often in each layer.
constexpr double kMostKernels = 0.55;
// A distance may differ from the mean by this share of it.
constexpr double kEven = 0.1;
constexpr uint32_t kMostLayers = 16;
constexpr uint32_t kShortestLayer = 4;

// Every `stride`-th of the positions; around the repeat, from the last to the first as well.
bool evenly_spaced(const std::vector<uint32_t>& positions, size_t stride, size_t length) {
  const double mean = static_cast<double>(length * stride) / static_cast<double>(positions.size());
  for (size_t i = 0; i < positions.size(); i += stride) {
    const size_t next =
        i + stride < positions.size() ? positions[i + stride] : positions[0] + length;
    const double distance = static_cast<double>(next) - positions[i];
    if (distance < mean * (1 - kEven) || distance > mean * (1 + kEven)) return false;
  }
  return true;
}

}  // namespace

uint32_t layers_in_repeat(std::span<const uint32_t> repeat) {
  std::map<uint32_t, std::vector<uint32_t>> positions;
  for (uint32_t i = 0; i < repeat.size(); ++i) positions[repeat[i]].push_back(i);
  uint32_t layers = 1;
  for (uint32_t times = 2; times <= kMostLayers && size_t{times} * kShortestLayer <= repeat.size();
       ++times) {
    size_t kernels = 0;
    for (const auto& [token, at] : positions) {
      if (at.size() % times != 0) continue;
      if (evenly_spaced(at, at.size() / times, repeat.size())) kernels += at.size();
    }
    if (static_cast<double>(kernels) >= kMostKernels * static_cast<double>(repeat.size())) {
      layers = times;
    }
  }
  return layers;
}

}  // namespace llmprof::analysis
