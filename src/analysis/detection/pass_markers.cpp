#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/detection/named_passes.h"
#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

struct Candidate {
  PassMarker marker;
  uint64_t name = 0;
  uint64_t exact = 0;  // its name and launch shape
};

std::vector<Candidate> collect(const KernelSequence& sequence, std::span<const LayerBeat> beats) {
  constexpr unsigned kHalf = 32;
  std::vector<Candidate> found;
  uint32_t gap = 0;
  for (uint32_t at = 0; at < sequence.size(); ++at) {
    while (gap < beats.size() && beats[gap].last < at) ++gap;
    if (gap < beats.size() && beats[gap].first <= at) continue;
    const KernelClass kernel_class = sequence.kernel_class(at);
    const bool selects = kernel_class == KernelClass::sampling;
    if (!selects && kernel_class != KernelClass::gather) continue;
    const uint64_t name = sequence.name(at).value;
    const uint64_t exact = name << kHalf | sequence.shape(at).value;
    found.push_back({{at, gap, selects, false}, name, exact});
  }
  return found;
}

// In how many gaps a kernel occurs, and how many layers are between them.
struct Spacing {
  size_t gaps = 0;
  uint32_t layers = 0;  // the most frequent spacing; 0: none is regular
  // If passes of two models alternate, the other spacing; otherwise 0.
  uint32_t other_layers = 0;
};

// Occasionally a marker may occur in two neighboring layers, or at a distance other than the two
// most frequent ones.
Spacing spacing_of(const std::vector<uint32_t>& gaps, const std::vector<uint32_t>& layers_before) {
  std::map<uint32_t, size_t> distances;
  size_t all = 0;
  for (size_t i = 1; i < gaps.size(); ++i) {
    const uint32_t distance = layers_before[gaps[i]] - layers_before[gaps[i - 1]];
    if (distance == 0) continue;  // hidden passes in between
    ++distances[distance];
    ++all;
  }
  const auto seldom = [&](size_t times) { return times * threshold::kSeldom <= all; };
  const bool apart = !distances.contains(1) || seldom(distances[1]);
  std::vector<std::pair<uint32_t, size_t>> order(distances.begin(), distances.end());
  order.resize(std::max<size_t>(order.size(), 2));
  std::ranges::stable_sort(order, std::ranges::greater(), [](auto& entry) { return entry.second; });
  const auto [most, times] = order[0];
  const auto [second, again] = order[1];
  Spacing spacing{gaps.size()};
  if (most > 1 && 2 * times >= all && apart) {
    spacing.layers = most;
    const bool both = second > 1 && again >= threshold::kSeveral && seldom(all - times - again);
    if (both) spacing.other_layers = second;
  }
  return spacing;
}

using Spacings = std::unordered_map<uint64_t, Spacing>;

Spacings spacings(const std::vector<Candidate>& candidates, uint64_t Candidate::* key,
                  const std::vector<uint32_t>& layers_before) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> gaps;
  for (const Candidate& row : candidates) {
    auto& seen = gaps[row.*key];
    if (seen.empty() || seen.back() != row.marker.gap) seen.push_back(row.marker.gap);
  }
  Spacings all;
  for (const auto& [value, of_value] : gaps) all[value] = spacing_of(of_value, layers_before);
  return all;
}

bool multiple_of_any(uint32_t value, const std::vector<uint32_t>& of) {
  return std::ranges::any_of(of, [&](uint32_t part) { return value % part == 0; });
}

class Chooser {
 public:
  Chooser(const KernelSequence& sequence, std::span<const LayerBeat> beats)
      : sequence_(sequence), candidates_(collect(sequence, beats)) {
    std::vector<uint32_t> layers_before(beats.size() + 1);
    for (size_t i = 0; i < beats.size(); ++i) {
      layers_before[i + 1] = layers_before[i] + (beats[i].replay ? 0U : 1U);
    }
    by_name_ = spacings(candidates_, &Candidate::name, layers_before);
    by_shape_ = spacings(candidates_, &Candidate::exact, layers_before);
  }

  PassMarkers choose() {
    PassMarkers found;
    found.layers = lengths();
    for (Candidate& row : candidates_) {
      const Spacing& spacing = spacing_at(row);
      row.marker.strong = spacing.layers > 0 && multiple_of_any(spacing.layers, found.layers);
      if (row.marker.strong || by_shape_.at(row.exact).gaps == 1) {
        found.markers.push_back(row.marker);
      }
    }
    return found;
  }

 private:
  // The name's spacing if it is regular, otherwise the shape's.
  [[nodiscard]] const Spacing& spacing_at(const Candidate& row) const {
    const Spacing& of_name = by_name_.at(row.name);
    return of_name.layers > 0 ? of_name : by_shape_.at(row.exact);
  }

  // Lengths of a pass in layers, most frequent first. Multiples are requests. Alternating layers (a
  // mixture of experts in every second one) show a top-k or a gather every few layers, so such
  // short passes need a token selection as evidence.
  [[nodiscard]] std::vector<uint32_t> lengths() const {
    std::map<uint32_t, std::pair<int64_t, bool>> support;  // times, whether a token is selected
    for (const Candidate& row : candidates_) {
      const Spacing& spacing = spacing_at(row);
      if (spacing.layers == 0) continue;
      auto& [times, picks] = support[spacing.layers];
      ++times;
      picks = picks || spacing.layers >= threshold::kFewestLayers ||
              (row.marker.selects && sequence_.has(row.marker.position, KernelTrait::token_choice));
    }
    std::erase_if(support, [](const auto& entry) { return !entry.second.second; });
    std::vector<std::pair<int64_t, uint32_t>> order;
    order.reserve(support.size());
    for (const auto& [layers, of_length] : support) order.emplace_back(-of_length.first, layers);
    std::ranges::sort(order);
    std::vector<uint32_t> found;
    for (const auto& [times, layers] : order) {
      const bool recurs = found.empty() || -times >= threshold::kSeveral;
      if (recurs && !multiple_of_any(layers, found)) found.push_back(layers);
    }
    // There is one pass between two markers of one kind, so this length is not a multiple of the
    // other.
    const std::vector<uint32_t> first_lengths = found;
    for (const Candidate& row : candidates_) {
      const Spacing& spacing = spacing_at(row);
      if (spacing.other_layers >= threshold::kFewestLayers &&
          std::ranges::count(first_lengths, spacing.layers) > 0 &&
          std::ranges::count(found, spacing.other_layers) == 0) {
        found.push_back(spacing.other_layers);
      }
    }
    return found;
  }

  const KernelSequence& sequence_;
  std::vector<Candidate> candidates_;
  Spacings by_name_;
  Spacings by_shape_;
};

}  // namespace

PassMarkers find_pass_markers(const KernelSequence& sequence, std::span<const LayerBeat> beats) {
  return Chooser(sequence, beats).choose();
}

}  // namespace llmprof::analysis
