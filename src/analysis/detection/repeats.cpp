#include "analysis/detection/repeats.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "trace/interner.h"

namespace llmprof::analysis {
namespace {

// Single kernels repeat inside a layer; a few in a row hardly do, many in a row never.
constexpr std::array<size_t, 2> kRowsOfKernels{4, 12};
constexpr uint32_t kShortestRepeat = 4;
constexpr size_t kPeriodsTried = 32;
constexpr size_t kLeastVotes = 16;
constexpr uint32_t kFewestRepeats = 3;
constexpr double kLeastAgreement = 0.8;
// A stretch in which so few kernels agree about as much is one of these, many times.
constexpr uint32_t kSmallPeriod = 6;
constexpr double kAboutAsMuch = 0.05;
// A burst: so short a period, so often. Weights being filled, a kernel being tuned.
constexpr uint32_t kBurstPeriod = 3;
constexpr size_t kBurstRepeats = 32;

struct Gram {
  uint64_t key = 0;
  friend bool operator==(const Gram&, const Gram&) = default;
  [[nodiscard]] size_t hash() const { return key; }
};
using GramId = trace::Id<struct GramKind>;

// How often the distance to the last equal gram is each number.
void count_distances(std::span<const uint32_t> tokens, size_t gram,
                     std::unordered_map<uint32_t, uint32_t>& votes) {
  if (tokens.size() < gram) return;
  trace::Interner<GramId, Gram> grams;
  std::vector<uint32_t> last;
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
    const size_t id = grams.intern({trace::hash_mix(0, key)}).index();
    if (id == last.size()) {
      last.push_back(static_cast<uint32_t>(i));
      continue;
    }
    const uint32_t distance = static_cast<uint32_t>(i) - last[id];
    last[id] = static_cast<uint32_t>(i);
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

std::vector<uint32_t> frequent_periods(std::span<const uint32_t> tokens) {
  std::vector<uint32_t> periods;
  for (const size_t gram : kRowsOfKernels) {
    std::unordered_map<uint32_t, uint32_t> votes;
    count_distances(tokens, gram, votes);
    std::vector<std::pair<uint32_t, uint32_t>> order;  // votes, period
    for (const auto& [period, times] : votes) {
      if (period < kShortestRepeat || times < kLeastVotes) continue;
      if (size_t{period} * kFewestRepeats > tokens.size()) continue;
      order.emplace_back(times, period);
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (order.size() > kPeriodsTried) order.resize(kPeriodsTried);
    for (const auto& [times, period] : order) periods.push_back(period);
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

// In a burst everything is like everything else: each of its tokens becomes one of its own.
std::vector<uint32_t> without_bursts(std::span<const uint32_t> sequence) {
  std::vector<uint32_t> tokens(sequence.begin(), sequence.end());
  uint32_t fresh = UINT32_MAX;
  for (uint32_t period = 1; period <= kBurstPeriod; ++period) {
    size_t begin = period;
    for (size_t i = period; i <= sequence.size(); ++i) {
      if (i < sequence.size() && sequence[i] == sequence[i - period]) continue;
      if (i - begin >= kBurstRepeats * period) {
        for (size_t at = begin - period; at < i; ++at) tokens[at] = fresh--;
      }
      begin = i + 1;
    }
  }
  return tokens;
}

class Stretches {
 public:
  Stretches(std::span<const uint32_t> tokens, uint32_t period)
      : tokens_(tokens.data()), size_(tokens.size()), period_(period) {}

  // Stretches in which every window of one period is at least two thirds like the one before.
  void find(std::vector<RepeatedStretch>& found) const {
    const size_t needed = (size_t{period_} * 2 + 2) / 3;
    size_t like = 0;
    size_t begin = 0;
    bool inside = false;
    for (size_t i = period_; i < size_; ++i) {
      if (same(i)) ++like;
      if (i < 2 * size_t{period_} - 1) continue;
      if (i >= 2 * size_t{period_} && same(i - period_)) --like;
      const bool good = like >= needed;
      if (good && !inside) begin = i + 1 - period_;
      if (!good && inside) settle(begin, i, found);
      inside = good;
    }
    if (inside) settle(begin, size_, found);
  }

 private:
  [[nodiscard]] bool same(size_t i) const { return tokens_[i] == tokens_[i - period_]; }

  // Tokens at [begin, end) are like those one period before; draws in the edges to what is.
  void settle(size_t begin, size_t end, std::vector<RepeatedStretch>& found) const {
    while (begin < end && !same(begin)) ++begin;
    while (end > begin && !same(end - 1)) --end;
    begin -= period_;
    const size_t count = (end - begin + period_ / 4) / period_;
    if (count < kFewestRepeats) return;
    size_t alike = 0;
    for (size_t i = begin + period_; i < end; ++i) {
      if (same(i)) ++alike;
    }
    const double agreement =
        static_cast<double>(alike) / static_cast<double>(end - begin - period_);
    if (agreement < kLeastAgreement || is_a_multiple(begin, end, agreement)) return;
    found.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), period_,
                     static_cast<uint32_t>(count), agreement});
  }

  // Whether a few kernels repeat all the time: a loop smaller than any layer.
  [[nodiscard]] bool is_a_multiple(size_t begin, size_t end, double agreement) const {
    for (uint32_t part = 1; part <= kSmallPeriod && part < period_; ++part) {
      if (period_ % part != 0) continue;
      size_t alike = 0;
      for (size_t i = begin + part; i < end; ++i) {
        if (tokens_[i] == tokens_[i - part]) ++alike;
      }
      const double of_part = static_cast<double>(alike) / static_cast<double>(end - begin - part);
      if (of_part >= agreement - kAboutAsMuch) return true;
    }
    return false;
  }

  const uint32_t* tokens_;
  size_t size_;
  uint32_t period_;
};

}  // namespace

std::vector<RepeatedStretch> find_repeats(std::span<const uint32_t> sequence) {
  std::vector<RepeatedStretch> found;
  const std::vector<uint32_t> tokens = without_bursts(sequence);
  for (const uint32_t period : frequent_periods(tokens)) Stretches(tokens, period).find(found);
  std::sort(found.begin(), found.end(), [](const RepeatedStretch& a, const RepeatedStretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length() > b.length();
  });
  return found;
}

}  // namespace llmprof::analysis
