#include "analysis/detection/repeats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/detection/likeness.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

// How candidates for a period are looked for.
struct PeriodSearch {
  // Single kernels repeat inside a layer; a few in a row hardly do, many in a row never.
  std::array<size_t, 2> rows_of_kernels;
  uint32_t shortest;
  uint32_t fewest_repeats;  // that the sequence has room for
  uint32_t least_votes;
  size_t tried;  // of each row of kernels
  bool by_span;  // a distance counts for as many tokens as it spans
};

constexpr PeriodSearch kInSequence{{4, 12}, 4, threshold::kSeveral, 16, 32, false};
constexpr PeriodSearch kInOnePass{{1, 4}, 2, 2, 1, 12, true};

// Where each gram was seen last, by its key. Open addressing by hand: this runs twice per kernel,
// and one access to memory each is what it takes.
class LastSeen {
 public:
  LastSeen() : slots_(size_t{1} << kFirstBits) {}

  // How long ago `key` was seen; notes that it is at `at`. 0: never before.
  uint32_t distance(uint64_t key, uint32_t at) {
    Slot& slot = slots_[find(key)];
    if (slot.last != 0) {
      const uint32_t distance = at + 1 - slot.last;
      slot.last = at + 1;
      return distance;
    }
    slot = {key, at + 1};
    if (++used_ * 2 > slots_.size()) grow();
    return 0;
  }

 private:
  static constexpr unsigned kFirstBits = 12;
  struct Slot {
    uint64_t key = 0;
    uint32_t last = 0;  // one more than where; 0: free
  };

  [[nodiscard]] size_t find(uint64_t key) const {
    constexpr uint64_t kSpread = 0xD6E8FEB86659FD93ULL;
    constexpr unsigned kKeyBits = 64;
    size_t slot = key * kSpread >> (kKeyBits - bits_);
    while (slots_[slot].last != 0 && slots_[slot].key != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    ++bits_;
    for (const Slot& slot : old) {
      if (slot.last != 0) slots_[find(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  unsigned bits_ = kFirstBits;
  size_t used_ = 0;
};

// How often the distance to the last equal gram is each number.
void count_distances(std::span<const uint32_t> tokens, size_t gram,
                     std::unordered_map<uint32_t, uint32_t>& votes) {
  if (tokens.size() < gram) return;
  LastSeen grams;
  // A polynomial over the window, so that a step costs two multiplications.
  constexpr uint64_t kBase = 0x9E3779B97F4A7C15ULL;
  uint64_t highest = 1;
  for (size_t i = 1; i < gram; ++i) highest *= kBase;
  uint64_t key = 0;
  uint32_t same_as = 0;  // neighbors mostly have the same distance
  uint32_t times = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i >= gram) key -= (uint64_t{tokens[i - gram]} + 1) * highest;
    key = key * kBase + tokens[i] + 1;
    if (i + 1 < gram) continue;
    const uint32_t distance = grams.distance(key, static_cast<uint32_t>(i));
    if (distance == 0) continue;
    if (distance == same_as) {
      ++times;
      continue;
    }
    if (times > 0) votes[same_as] += times;
    same_as = distance;
    times = 1;
  }
  if (times > 0) votes[same_as] += times;
}

std::vector<uint32_t> frequent_periods(std::span<const uint32_t> tokens,
                                       const PeriodSearch& search) {
  std::vector<uint32_t> periods;
  for (const size_t gram : search.rows_of_kernels) {
    std::unordered_map<uint32_t, uint32_t> votes;
    count_distances(tokens, gram, votes);
    std::vector<std::pair<uint64_t, uint32_t>> order;  // weight, period
    for (const auto& [period, times] : votes) {
      if (period < search.shortest || times < search.least_votes) continue;
      if (size_t{period} * search.fewest_repeats > tokens.size()) continue;
      order.emplace_back(uint64_t{times} * (search.by_span ? period : 1), period);
    }
    std::ranges::sort(order, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (order.size() > search.tried) order.resize(search.tried);
    for (const auto& [weight, period] : order) periods.push_back(period);
  }
  std::ranges::sort(periods);
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

// In a burst everything is like everything else: each of its tokens becomes one of its own.
std::vector<uint32_t> without_bursts(std::span<const uint32_t> sequence) {
  std::vector<uint32_t> tokens(sequence.begin(), sequence.end());
  uint32_t fresh = UINT32_MAX;
  for (const KernelBurst& burst : find_kernel_bursts(sequence)) {
    for (size_t at = burst.begin; at < burst.end; ++at) tokens[at] = fresh--;
  }
  return tokens;
}

// How far a few kernels alone repeat, whatever the period that is looked for.
class SmallLoops {
 public:
  explicit SmallLoops(std::span<const uint32_t> tokens) : tokens_(tokens) {}

  // Whether in [begin, end) a few kernels repeat all the time: a loop smaller than any layer, of
  // which `period` is a multiple.
  bool explain(size_t begin, size_t end, uint32_t period, double agreement) {
    for (uint32_t part = 1; part <= threshold::kSmallLoop && part < period; ++part) {
      if (period % part != 0) continue;
      std::optional<Likeness>& like = by_period_[part - 1];
      if (!like) like.emplace(tokens_, part);
      if (like->share(begin + part, end) >= agreement - threshold::kSmallPart) return true;
    }
    return false;
  }

 private:
  std::span<const uint32_t> tokens_;
  std::array<std::optional<Likeness>, threshold::kSmallLoop> by_period_;
};

// The longest stretch in which every repeat is at least half like the one before.
std::optional<LayerPeriod> layers_of(std::span<const uint32_t> tokens, uint32_t period) {
  const Likeness like(tokens, period);
  size_t begin = 0;
  size_t end = 0;
  size_t longest = 0;
  like.each_stretch((size_t{period} + 1) / 2, [&](size_t first, size_t last, size_t windows) {
    if (windows <= longest) return;
    longest = windows;
    begin = first - period;
    end = last;
  });
  if (longest == 0) return std::nullopt;
  LayerPeriod found{0, period, (end - begin + period / threshold::kQuarter) / period, 0};
  const size_t missing =
      found.count * period > end - begin ? found.count * period - (end - begin) : 0;
  // What does not repeat is rather the beginning of the first layer than the end of the last.
  found.first = begin - std::min(begin, missing);
  if (begin < missing && tokens.size() - end < missing - begin) --found.count;
  if (found.count < 2) return std::nullopt;
  found.agreement = like.share(found.first + period, found.first + found.count * period);
  return found;
}

// Every `stride`-th of the positions; around the repeat, from the last to the first as well.
bool evenly_spaced(const std::vector<uint32_t>& positions, size_t stride, size_t length) {
  const double mean = static_cast<double>(length * stride) / static_cast<double>(positions.size());
  for (size_t i = 0; i < positions.size(); i += stride) {
    const size_t next =
        i + stride < positions.size() ? positions[i + stride] : positions[0] + length;
    const double distance = static_cast<double>(next) - positions[i];
    if (std::abs(distance - mean) > threshold::kTolerance * mean) return false;
  }
  return true;
}

}  // namespace

std::vector<RepeatedStretch> find_repeats(std::span<const uint32_t> sequence) {
  std::vector<RepeatedStretch> found;
  const std::vector<uint32_t> tokens = without_bursts(sequence);
  SmallLoops loops(tokens);
  for (const uint32_t period : frequent_periods(tokens, kInSequence)) {
    const Likeness like(tokens, period);
    like.each_stretch((2 * size_t{period} + 2) / 3, [&](size_t first, size_t end, size_t) {
      const size_t begin = first - period;
      const size_t count = (end - begin + period / threshold::kQuarter) / period;
      if (count < kInSequence.fewest_repeats) return;
      const double agreement = like.share(first, end);
      if (agreement < threshold::kNearlyAll || loops.explain(begin, end, period, agreement)) return;
      found.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), period,
                       static_cast<uint32_t>(count), agreement});
    });
  }
  std::ranges::sort(found, [](const RepeatedStretch& a, const RepeatedStretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length() > b.length();
  });
  return found;
}

std::optional<LayerPeriod> find_layer_period(std::span<const uint32_t> tokens) {
  const auto coverage = [&](const LayerPeriod& layers) {
    return static_cast<double>(layers.count * layers.period) / static_cast<double>(tokens.size());
  };
  std::vector<LayerPeriod> found;
  double covered = 0;
  for (const uint32_t period : frequent_periods(tokens, kInOnePass)) {
    const auto layers = layers_of(tokens, period);
    if (!layers || coverage(*layers) < threshold::kMost) continue;
    found.push_back(*layers);
    covered = std::max(covered, coverage(*layers));
  }
  // A smaller period is the better answer (one layer instead of two that alternate) where it covers
  // and agrees about as well as the best.
  std::erase_if(found, [&](const LayerPeriod& layers) {
    return coverage(layers) < covered - threshold::kTolerance;
  });
  double agreed = 0;
  for (const LayerPeriod& layers : found) agreed = std::max(agreed, layers.agreement);
  for (const LayerPeriod& layers : found) {
    if (layers.agreement >= agreed - threshold::kTolerance) return layers;
  }
  return std::nullopt;
}

uint32_t layers_in_repeat(std::span<const uint32_t> repeat) {
  std::map<uint32_t, std::vector<uint32_t>> positions;
  for (uint32_t i = 0; i < repeat.size(); ++i) positions[repeat[i]].push_back(i);
  uint32_t layers = 1;
  for (uint32_t times = 2;
       times <= threshold::kManyLayers && size_t{times} * threshold::kFew <= repeat.size();
       ++times) {
    size_t kernels = 0;
    for (const auto& [token, at] : positions) {
      if (at.size() % times != 0) continue;
      if (evenly_spaced(at, at.size() / times, repeat.size())) kernels += at.size();
    }
    if (static_cast<double>(kernels) >= threshold::kMost * static_cast<double>(repeat.size())) {
      layers = times;
    }
  }
  return layers;
}

}  // namespace llmprof::analysis
