#include "analysis/detection/layer_period.h"

#include <algorithm>
#include <array>
#include <vector>

namespace llmprof::analysis {
namespace {

constexpr size_t kShortestPeriod = 2;
constexpr size_t kCandidatesPerGram = 12;
// Single kernels repeat inside a layer; four in a row hardly do.
constexpr std::array<size_t, 2> kGrams{1, 4};
// A smaller period is the better answer (one layer instead of two that alternate) where it covers
// and agrees about as well as the best.
constexpr double kCoverageGiven = 0.1;
constexpr double kAgreementGiven = 0.1;
constexpr double kLeastCoverage = 0.5;
// The first and the last layer may lack up to a quarter of what the others have.
constexpr size_t kIncompletePart = 4;

std::vector<uint64_t> gram_keys(std::span<const uint32_t> tokens, size_t gram) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  std::vector<uint64_t> keys;
  if (tokens.size() < gram) return keys;
  keys.resize(tokens.size() - gram + 1);
  for (size_t i = 0; i < keys.size(); ++i) {
    uint64_t key = 0;
    for (size_t j = 0; j < gram; ++j) {
      key = (key ^ (tokens[i + j] + 1)) * kMultiplier;
      key ^= key >> 29U;
    }
    keys[i] = key;
  }
  return keys;
}

// Distances that often lie between two successive equal grams.
void add_candidates(std::span<const uint32_t> tokens, size_t gram, std::vector<size_t>& periods) {
  const std::vector<uint64_t> keys = gram_keys(tokens, gram);
  std::vector<uint32_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  std::vector<uint32_t> gap_count(tokens.size() / 2 + 1);
  for (size_t i = 1; i < order.size(); ++i) {
    if (keys[order[i]] != keys[order[i - 1]]) continue;
    const size_t gap = order[i] - order[i - 1];
    if (gap < gap_count.size()) ++gap_count[gap];
  }
  std::vector<size_t> gaps;
  for (size_t gap = kShortestPeriod; gap < gap_count.size(); ++gap) {
    if (gap_count[gap] > 0) gaps.push_back(gap);
  }
  const size_t kept = std::min(gaps.size(), kCandidatesPerGram);
  // A gap counts for as many tokens as it spans.
  const auto weight = [&](size_t gap) { return gap_count[gap] * gap; };
  std::partial_sort(
      gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept), gaps.end(),
      [&](size_t a, size_t b) { return weight(a) != weight(b) ? weight(a) > weight(b) : a < b; });
  periods.insert(periods.end(), gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept));
}

class Repeats {
 public:
  Repeats(std::span<const uint32_t> tokens, size_t period) : tokens_(tokens), period_(period) {}

  // The longest stretch in which every repeat is at least half like the one before.
  [[nodiscard]] std::optional<LayerPeriod> find() const {
    if (tokens_.size() < 2 * period_) return std::nullopt;
    const size_t positions = tokens_.size() - period_;
    size_t best_begin = 0;
    size_t best_end = 0;
    size_t begin = 0;
    size_t like = 0;
    bool inside = false;
    for (size_t i = 0; i < positions; ++i) {
      if (same(i)) ++like;
      if (i + 1 < period_) continue;
      const size_t window = i + 1 - period_;
      if (window > 0 && same(window - 1)) --like;
      const bool good = 2 * like >= period_;
      if (good && !inside) begin = window;
      if (good && i + 1 - begin > best_end - best_begin) {
        best_begin = begin;
        best_end = i + 1;
      }
      inside = good;
    }
    if (best_end == best_begin) return std::nullopt;
    return settle(best_begin, best_end);
  }

 private:
  [[nodiscard]] bool same(size_t i) const { return tokens_[i] == tokens_[i + period_]; }

  // Draws in the edges of [begin, end) to what really repeats, and counts whole repeats.
  [[nodiscard]] std::optional<LayerPeriod> settle(size_t begin, size_t end) const {
    while (begin < end && !same(begin)) ++begin;
    while (end > begin && !same(end - 1)) --end;
    const size_t length = end - begin + period_;
    LayerPeriod found;
    found.period = period_;
    found.count = (length + period_ / kIncompletePart) / period_;
    const size_t missing = found.count * period_ > length ? found.count * period_ - length : 0;
    // What does not repeat is rather the beginning of the first layer than the end of the last.
    const size_t room_behind = tokens_.size() - (begin + length);
    found.first = begin - std::min(begin, missing);
    if (begin < missing && room_behind < missing - begin) --found.count;
    if (found.count < 2) return std::nullopt;
    size_t agreed = 0;
    const size_t pairs = (found.count - 1) * period_;
    for (size_t i = found.first; i < found.first + pairs; ++i) {
      if (same(i)) ++agreed;
    }
    found.agreement = static_cast<double>(agreed) / static_cast<double>(pairs);
    return found;
  }

  std::span<const uint32_t> tokens_;
  size_t period_;
};

}  // namespace

std::optional<LayerPeriod> find_layer_period(std::span<const uint32_t> tokens) {
  std::vector<size_t> periods;
  for (const size_t gram : kGrams) add_candidates(tokens, gram, periods);
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());

  const auto coverage = [&](const LayerPeriod& layers) {
    return static_cast<double>(layers.count * layers.period) / static_cast<double>(tokens.size());
  };
  std::vector<LayerPeriod> found;
  double best_coverage = 0;
  for (const size_t period : periods) {
    const auto layers = Repeats(tokens, period).find();
    if (!layers || coverage(*layers) < kLeastCoverage) continue;
    found.push_back(*layers);
    best_coverage = std::max(best_coverage, coverage(*layers));
  }
  std::erase_if(found, [&](const LayerPeriod& layers) {
    return coverage(layers) < best_coverage - kCoverageGiven;
  });
  double best_agreement = 0;
  for (const LayerPeriod& layers : found) {
    best_agreement = std::max(best_agreement, layers.agreement);
  }
  for (const LayerPeriod& layers : found) {
    if (layers.agreement >= best_agreement - kAgreementGiven) return layers;
  }
  return std::nullopt;
}

}  // namespace llmprof::analysis
