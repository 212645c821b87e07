#include "analysis/detection/repeats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/thresholds.h"
#include "trace/ids.h"
#include "trace/interner.h"

namespace llmprof::analysis {
namespace {

using Flags = std::array<uint8_t, 64>;

// Packs bytes of 0 or 1 into bits, eight at a time: the product moves each to the highest byte.
uint64_t packed(const Flags& flags) {
  constexpr size_t kBytes = sizeof(uint64_t);
  constexpr uint64_t kGather = 0x0102040810204080ULL;
  constexpr unsigned kHighestByte = 56;
  uint64_t word = 0;
  for (size_t i = 0; i < flags.size(); i += kBytes) {
    uint64_t eight = 0;
    std::memcpy(&eight, flags.data() + i, kBytes);
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    word |= (eight * kGather >> kHighestByte) << i;
  }
  return word;
}

// Which tokens of a sequence equal the token `distance` earlier: one bit each, to count 64 at once.
class Likeness {
 public:
  static constexpr size_t kBits = 64;

  Likeness(std::span<const uint32_t> tokens, uint32_t distance);

  // False for the first `distance` tokens.
  [[nodiscard]] bool at(size_t row) const { return (words_[row / kBits] >> row % kBits & 1U) != 0; }
  // Bits of the tokens from `row` on, the first in the lowest bit; 0 after the last token.
  [[nodiscard]] uint64_t from(size_t row) const {
    const size_t shift = row % kBits;
    const uint64_t low = words_[row / kBits] >> shift;
    return shift == 0 ? low : low | words_[row / kBits + 1] << (kBits - shift);
  }
  // Within [begin, end).
  [[nodiscard]] size_t count(size_t begin, size_t end) const;
  [[nodiscard]] double share(size_t begin, size_t end) const {
    return static_cast<double>(count(begin, end)) / static_cast<double>(end - begin);
  }

  // Calls `visit(begin, end)` for stretches in which every window of one distance has at least
  // `needed` equal tokens, trimmed to equal tokens.
  template <class Visit>
  void each_stretch(size_t needed, const Visit& visit) const {
    const size_t whole = 2 * distance_;  // the first window's end
    if (size_ < whole) return;
    const auto settle = [&](size_t begin, size_t end) {
      while (begin < end && !at(begin)) ++begin;
      while (end > begin && !at(end - 1)) --end;
      visit(begin, end);
    };
    size_t like = count(distance_, whole);
    bool inside = like >= needed;
    size_t begin = distance_;
    for (size_t row = whole; row < size_; row += kBits) {
      const uint64_t come = from(row);
      const uint64_t go = from(row - distance_);
      const auto more = static_cast<size_t>(std::popcount(come & ~go));
      const auto fewer = static_cast<size_t>(std::popcount(go & ~come));
      // Usually no window in this word can change the state.
      if (inside ? like >= needed + fewer : like + more < needed) {
        like = like + more - fewer;
        continue;
      }
      for (size_t i = row; i < size_ && i < row + kBits; ++i) {
        like = like + (come >> (i - row) & 1U) - (go >> (i - row) & 1U);
        const bool good = like >= needed;
        if (good && !inside) begin = i + 1 - distance_;
        if (!good && inside) settle(begin, i);
        inside = good;
      }
    }
    if (inside) settle(begin, size_);
  }

 private:
  size_t size_;
  size_t distance_;
  std::vector<uint64_t> words_;  // one more than the tokens need
};

Likeness::Likeness(std::span<const uint32_t> tokens, uint32_t distance)
    : size_(tokens.size()), distance_(distance), words_(tokens.size() / kBits + 2, 0) {
  for (size_t first = distance / kBits * kBits; first < tokens.size(); first += kBits) {
    Flags flags{};
    if (first >= distance && first + kBits <= tokens.size()) {
      const uint32_t* here = tokens.data() + first;
      const uint32_t* before = here - distance;
      for (size_t i = 0; i < kBits; ++i) flags[i] = here[i] == before[i] ? 1 : 0;
    } else {
      for (size_t i = 0; i < kBits && first + i < tokens.size(); ++i) {
        const size_t row = first + i;
        flags[i] = row >= distance && tokens[row] == tokens[row - distance] ? 1 : 0;
      }
    }
    words_[first / kBits] = packed(flags);
  }
}

size_t Likeness::count(size_t begin, size_t end) const {
  if (begin >= end) return 0;
  const auto ones = [](uint64_t word) { return static_cast<size_t>(std::popcount(word)); };
  const size_t first = begin / kBits;
  const size_t last = end / kBits;
  const uint64_t behind_begin = ~uint64_t{0} << begin % kBits;
  const uint64_t before_end = ~(~uint64_t{0} << end % kBits);
  if (first == last) return ones(words_[first] & behind_begin & before_end);
  size_t found = ones(words_[first] & behind_begin) + ones(words_[last] & before_end);
  for (size_t i = first + 1; i < last; ++i) found += ones(words_[i]);
  return found;
}

// How to search for candidate periods.
struct PeriodSearch {
  // Single kernels repeat inside a layer; a few in a row hardly do, many in a row never.
  std::array<size_t, 2> rows_of_kernels;
  uint32_t shortest;
  uint32_t fewest_repeats;  // that fit into the sequence
  uint32_t least_votes;
  size_t tried;              // candidates per row of kernels
  bool by_span;              // a distance counts for as many tokens as it spans
  size_t (*needed)(size_t);  // tokens of a repeat that equal the previous one, by its length
};

constexpr PeriodSearch kInSequence{{4, 12}, threshold::kFewestKernels, threshold::kRepeats, 16, 32,
                                   false,   threshold::two_thirds_of};
constexpr PeriodSearch kInOnePass{{1, 4}, 2, 2, 1, 12, true, threshold::half_of};

// A few consecutive tokens, hashed by a polynomial.
struct Gram {
  uint64_t key = 0;
  friend bool operator==(const Gram&, const Gram&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(key, 0); }
};
using GramId = trace::Id<struct GramKind>;

// How often each distance to the last equal gram occurs.
void count_distances(std::span<const uint32_t> tokens, size_t gram,
                     std::unordered_map<uint32_t, uint32_t>& votes) {
  if (tokens.size() < gram) return;
  trace::Interner<GramId, Gram> grams;
  std::vector<size_t> last;  // where each gram last ended
  // Rolling polynomial hash: each step costs two multiplications.
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
    const size_t gram_row = grams.intern({key}).index();
    if (gram_row == last.size()) {
      last.push_back(i);
      continue;
    }
    const auto distance = static_cast<uint32_t>(i - std::exchange(last[gram_row], i));
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

// In a burst all tokens resemble each other, so each gets a unique token.
std::vector<uint32_t> without_bursts(std::span<const uint32_t> sequence) {
  std::vector<uint32_t> tokens(sequence.begin(), sequence.end());
  uint32_t fresh = UINT32_MAX;
  for (const KernelBurst& burst : find_kernel_bursts(sequence)) {
    for (size_t at = burst.begin; at < burst.end; ++at) tokens[at] = fresh--;
  }
  return tokens;
}

// How far a few kernels alone repeat, whatever period is searched.
class SmallLoops {
 public:
  explicit SmallLoops(std::span<const uint32_t> tokens) : tokens_(tokens) {}

  // Whether a few kernels repeat throughout [begin, end): a loop smaller than any layer, with
  // `period` a multiple of it.
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

std::vector<RepeatedStretch> find_stretches(std::span<const uint32_t> tokens,
                                            const PeriodSearch& search) {
  std::vector<RepeatedStretch> found;
  for (const uint32_t period : frequent_periods(tokens, search)) {
    const Likeness like(tokens, period);
    like.each_stretch(search.needed(period), [&](size_t first, size_t end) {
      const size_t begin = first - period;
      const size_t count = (end - begin + period / threshold::kQuarter) / period;
      if (count < search.fewest_repeats) return;
      found.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), period,
                       static_cast<uint32_t>(count), like.share(first, end)});
    });
  }
  return found;
}

// The stretch from its first whole repeat to its last. The part that does not repeat is more likely
// the start of the first layer than the end of the last. None if less than two are left.
std::optional<RepeatedStretch> whole_repeats(std::span<const uint32_t> tokens,
                                             RepeatedStretch stretch) {
  const uint32_t whole = stretch.count * stretch.period;
  const uint32_t missing = whole - std::min(whole, stretch.length());
  const uint32_t before = std::min(stretch.begin, missing);
  stretch.begin -= before;
  if (tokens.size() - stretch.end < missing - before) --stretch.count;
  if (stretch.count < 2) return std::nullopt;
  stretch.end = stretch.begin + stretch.count * stretch.period;
  stretch.agreement =
      Likeness(tokens, stretch.period).share(stretch.begin + stretch.period, stretch.end);
  return stretch;
}

// Checks every `stride`-th position, cyclically: the repeat wraps from the last to the first.
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
  const std::vector<uint32_t> tokens = without_bursts(sequence);
  SmallLoops loops(tokens);
  std::vector<RepeatedStretch> found = find_stretches(tokens, kInSequence);
  std::erase_if(found, [&](const RepeatedStretch& each) {
    return each.agreement < threshold::kNearlyAll ||
           loops.explain(each.begin, each.end, each.period, each.agreement);
  });
  std::ranges::sort(found, [](const RepeatedStretch& a, const RepeatedStretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length() > b.length();
  });
  return found;
}

std::optional<RepeatedStretch> find_layer_period(std::span<const uint32_t> tokens) {
  const auto coverage = [&](const RepeatedStretch& layers) {
    return static_cast<double>(layers.count * layers.period) / static_cast<double>(tokens.size());
  };
  std::vector<RepeatedStretch> found;
  double covered = 0;
  for (const RepeatedStretch& stretch : find_stretches(tokens, kInOnePass)) {
    if (coverage(stretch) < threshold::kMost) continue;
    const auto layers = whole_repeats(tokens, stretch);
    if (!layers || coverage(*layers) < threshold::kMost) continue;
    found.push_back(*layers);
    covered = std::max(covered, coverage(*layers));
  }
  // Prefer a smaller period (one layer instead of two that alternate) if its coverage and agreement
  // are close to the best.
  std::erase_if(found, [&](const RepeatedStretch& layers) {
    return coverage(layers) < covered - threshold::kTolerance;
  });
  double agreed = 0;
  for (const RepeatedStretch& layers : found) agreed = std::max(agreed, layers.agreement);
  const auto best = std::ranges::find_if(found, [&](const RepeatedStretch& layers) {
    return layers.agreement >= agreed - threshold::kTolerance;
  });
  return best == found.end() ? std::nullopt : std::optional(*best);
}

uint32_t layers_in_repeat(std::span<const uint32_t> repeat) {
  std::map<uint32_t, std::vector<uint32_t>> positions;
  for (uint32_t i = 0; i < repeat.size(); ++i) positions[repeat[i]].push_back(i);
  uint32_t layers = 1;
  for (uint32_t times = 2; times <= threshold::kLayersTogether &&
                           size_t{times} * threshold::kFewestKernels <= repeat.size();
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
