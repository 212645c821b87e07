#include "analysis/detection/pass_markers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace llmprof::analysis {
namespace {

// Layers that alternate (a mixture of experts in every second one) show a top-k or a gather every
// few layers; as the length of a pass so few layers need the selection of a token as evidence.
constexpr uint32_t kFewLayers = 4;
// Once in how many spacings a marker may stand in two neighboring layers, or at another distance
// than the two that most are.
constexpr size_t kNeighborsSeldom = 10;
// A second length recurs at least so often.
constexpr size_t kRecurs = 3;

struct Candidate {
  uint32_t position;
  uint32_t gap;
  uint32_t token;  // of its name
  uint32_t exact;  // of its name and launch shape
  bool selects;
};

// Equal values get equal numbers, from 0.
class Numbering {
 public:
  uint32_t operator()(uint64_t value) {
    return numbers_.try_emplace(value, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  [[nodiscard]] size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

struct Candidates {
  std::vector<Candidate> rows;
  size_t tokens = 0;
  size_t exact_tokens = 0;
};

Candidates collect(const KernelSequence& sequence, std::span<const LayerBeat> beats) {
  constexpr unsigned kHalf = 32;
  Candidates found;
  Numbering by_name;
  Numbering by_shape;
  uint32_t gap = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    while (gap < beats.size() && beats[gap].last < i) ++gap;
    if (gap < beats.size() && beats[gap].first <= i) continue;
    const KernelClass kernel_class = sequence.kernel_class(i);
    const bool selects = kernel_class == KernelClass::sampling;
    if (!selects && kernel_class != KernelClass::gather) continue;
    const uint64_t name = sequence.name(i).value;
    found.rows.push_back({static_cast<uint32_t>(i), gap, by_name(name),
                          by_shape(name << kHalf | sequence.shape(i).value), selects});
  }
  found.tokens = by_name.size();
  found.exact_tokens = by_shape.size();
  return found;
}

// In how many gaps a token occurs, and how many layers lie between.
struct Spacing {
  size_t gaps = 0;
  uint32_t layers = 0;  // the most frequent spacing; 0: none is regular
  // Passes of two models take turns: the other spacing; 0: there is none.
  uint32_t other_layers = 0;
};

Spacing spacing_of(const std::vector<uint32_t>& gaps, const std::vector<uint32_t>& layers_before) {
  Spacing spacing;
  spacing.gaps = gaps.size();
  std::vector<uint32_t> distances;
  for (size_t i = 1; i < gaps.size(); ++i) {
    const uint32_t distance = layers_before[gaps[i]] - layers_before[gaps[i - 1]];
    if (distance > 0) distances.push_back(distance);  // 0: hidden passes in between
  }
  std::sort(distances.begin(), distances.end());
  uint32_t most = 0;
  size_t times = 0;
  uint32_t second = 0;
  size_t times_second = 0;
  for (size_t i = 0; i < distances.size();) {
    size_t behind = i;
    while (behind < distances.size() && distances[behind] == distances[i]) ++behind;
    if (behind - i > times) {
      second = std::exchange(most, distances[i]);
      times_second = std::exchange(times, behind - i);
    } else if (behind - i > times_second) {
      second = distances[i];
      times_second = behind - i;
    }
    i = behind;
  }
  const auto neighbors = static_cast<size_t>(
      std::upper_bound(distances.begin(), distances.end(), 1U) - distances.begin());
  const bool regular = 2 * times >= distances.size();
  const bool apart = neighbors * kNeighborsSeldom <= distances.size();
  if (most > 1 && regular && apart) spacing.layers = most;
  const size_t others = distances.size() - times - times_second;
  if (spacing.layers > 0 && second > 1 && times_second >= kRecurs &&
      others * kNeighborsSeldom <= distances.size()) {
    spacing.other_layers = second;
  }
  return spacing;
}

template <class Token>
std::vector<Spacing> spacings(const Candidates& candidates, size_t tokens, Token token,
                              const std::vector<uint32_t>& layers_before) {
  std::vector<std::vector<uint32_t>> gaps(tokens);
  for (const Candidate& row : candidates.rows) {
    auto& seen = gaps[row.*token];
    if (seen.empty() || seen.back() != row.gap) seen.push_back(row.gap);
  }
  std::vector<Spacing> all;
  all.reserve(tokens);
  for (const auto& of_token : gaps) all.push_back(spacing_of(of_token, layers_before));
  return all;
}

bool multiple_of_any(uint32_t value, const std::vector<uint32_t>& of) {
  return std::any_of(of.begin(), of.end(), [&](uint32_t part) { return value % part == 0; });
}

class Chooser {
 public:
  Chooser(const KernelSequence& sequence, std::span<const LayerBeat> beats)
      : sequence_(sequence), candidates_(collect(sequence, beats)) {
    std::vector<uint32_t> layers_before(beats.size() + 1);
    for (size_t i = 0; i < beats.size(); ++i) {
      layers_before[i + 1] = layers_before[i] + (beats[i].replay ? 0U : 1U);
    }
    by_name_ = spacings(candidates_, candidates_.tokens, &Candidate::token, layers_before);
    by_shape_ = spacings(candidates_, candidates_.exact_tokens, &Candidate::exact, layers_before);
  }

  PassMarkers choose(size_t gaps) {
    PassMarkers found;
    found.layers = lengths();
    found.first_of_gap.assign(gaps + 1, 0);
    for (const Candidate& row : candidates_.rows) {
      const Spacing& spacing = spacing_at(row);
      const bool strong = spacing.layers > 0 && multiple_of_any(spacing.layers, found.layers);
      if (!strong && by_shape_[row.exact].gaps > 1) continue;
      found.markers.push_back({row.position, row.selects, strong});
      ++found.first_of_gap[row.gap + 1];
    }
    for (size_t i = 1; i < found.first_of_gap.size(); ++i) {
      found.first_of_gap[i] += found.first_of_gap[i - 1];
    }
    return found;
  }

 private:
  // The name's where that alone is regular.
  [[nodiscard]] const Spacing& spacing_at(const Candidate& row) const {
    const Spacing& of_name = by_name_[row.token];
    return of_name.layers > 0 ? of_name : by_shape_[row.exact];
  }

  // The lengths of a pass in layers, most frequent first. Multiples are requests.
  [[nodiscard]] std::vector<uint32_t> lengths() const {
    struct Support {
      size_t times = 0;
      bool picks = false;
    };
    std::map<uint32_t, Support> support;
    for (const Candidate& row : candidates_.rows) {
      const Spacing& spacing = spacing_at(row);
      if (spacing.layers == 0) continue;
      Support& of_length = support[spacing.layers];
      ++of_length.times;
      if (spacing.layers < kFewLayers && row.selects && !of_length.picks) {
        of_length.picks = sequence_.has(row.position, KernelTrait::token_choice);
      }
    }
    std::erase_if(
        support, [](const auto& entry) { return entry.first < kFewLayers && !entry.second.picks; });
    std::vector<std::pair<size_t, uint32_t>> order;
    order.reserve(support.size());
    for (const auto& [layers, of_length] : support) order.emplace_back(of_length.times, layers);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<uint32_t> found;
    constexpr size_t kTwoPasses = 2;
    for (const auto& [times, layers] : order) {
      if (multiple_of_any(layers, found)) continue;
      if (found.empty() || times > kTwoPasses) found.push_back(layers);
    }
    // Between two markers of one kind lies one pass: such a length is no multiple of the other.
    const size_t first_lengths = found.size();
    for (const Candidate& row : candidates_.rows) {
      const Spacing& spacing = spacing_at(row);
      const auto known = found.begin() + static_cast<std::ptrdiff_t>(first_lengths);
      if (spacing.other_layers < kFewLayers ||
          std::find(found.begin(), known, spacing.layers) == known) {
        continue;
      }
      if (std::find(found.begin(), found.end(), spacing.other_layers) == found.end()) {
        found.push_back(spacing.other_layers);
      }
    }
    return found;
  }

  const KernelSequence& sequence_;
  Candidates candidates_;
  std::vector<Spacing> by_name_;
  std::vector<Spacing> by_shape_;
};

}  // namespace

bool PassMarkers::strong_in_gap(size_t gap) const {
  const auto here = in_gap(gap);
  return std::any_of(here.begin(), here.end(), [](const PassMarker& m) { return m.strong; });
}

PassMarkers find_pass_markers(const KernelSequence& sequence, std::span<const LayerBeat> beats) {
  return Chooser(sequence, beats).choose(beats.size() + 1);
}

}  // namespace llmprof::analysis
