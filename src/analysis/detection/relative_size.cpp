#include "analysis/detection/relative_size.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

// Kernels that two passes must share for their launch grids to be compared.
constexpr size_t kEnoughShared = 3;

uint64_t extent_of(const trace::Extent& extent) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

// Its first layers may begin with what ends the pass before.
uint32_t middle_of(const ForwardPass& pass) {
  return pass.first_beat + (pass.last_beat - pass.first_beat) / 2;
}

class PassThreads {
 public:
  PassThreads(const KernelSequence& sequence, const ForwardPass& pass) : sequence_(sequence) {
    for (uint32_t at = middle_of(pass); at <= pass.last_beat; ++at) {
      if (sequence.replay(at)) continue;
      threads_.try_emplace(sequence.name(at).value, threads(at));
    }
  }

  // Of the middle kernel; 0 where too few are shared.
  [[nodiscard]] double ratio(const ForwardPass& pass) const {
    std::unordered_map<uint32_t, double> by_name;
    for (uint32_t at = middle_of(pass); at <= pass.last_beat; ++at) {
      if (sequence_.replay(at)) continue;
      const auto known = threads_.find(sequence_.name(at).value);
      if (known == threads_.end() || known->second == 0) continue;
      by_name.try_emplace(known->first,
                          static_cast<double>(threads(at)) / static_cast<double>(known->second));
    }
    if (by_name.size() < kEnoughShared) return 0;
    std::vector<double> ratios;
    ratios.reserve(by_name.size());
    for (const auto& [name, value] : by_name) ratios.push_back(value);
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return *middle;
  }

 private:
  [[nodiscard]] uint64_t threads(uint32_t at) const {
    const trace::LaunchShape& shape = sequence_.trace().shapes[sequence_.shape(at)];
    return extent_of(shape.grid) * extent_of(shape.block);
  }
  const KernelSequence& sequence_;
  std::unordered_map<uint32_t, uint64_t> threads_;
};

Nanoseconds kernel_time(const KernelSequence& sequence, const ForwardPass& pass) {
  Nanoseconds time = 0;
  for (uint32_t at = pass.begin; at < pass.end; ++at) time += sequence.end(at) - sequence.start(at);
  return time;
}

}  // namespace

std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes) {
  std::vector<double> sizes(passes.size(), 0);
  std::vector<Nanoseconds> times(passes.size());
  std::map<uint32_t, size_t> smallest;  // by layers
  for (size_t i = 0; i < passes.size(); ++i) {
    times[i] = kernel_time(sequence, passes[i]);
    if (passes[i].replay()) continue;
    const auto known = smallest.try_emplace(passes[i].layers, i).first;
    if (times[i] < times[known->second]) known->second = i;
  }
  std::map<uint32_t, PassThreads> references;
  for (const auto& [layers, row] : smallest) {
    references.emplace(layers, PassThreads(sequence, passes[row]));
  }
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].replay()) continue;
    sizes[i] = references.at(passes[i].layers).ratio(passes[i]);
    const Nanoseconds least = times[smallest[passes[i].layers]];
    if (sizes[i] == 0 && least > 0) {
      sizes[i] = static_cast<double>(times[i]) / static_cast<double>(least);
    }
  }
  return sizes;
}

}  // namespace llmprof::analysis
