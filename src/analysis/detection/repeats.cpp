#include "analysis/detection/repeats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <unordered_map>

#include "analysis/detection/likeness.h"
#include "analysis/stages/kernel_bursts.h"

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
  for (const KernelBurst& burst : find_kernel_bursts(sequence)) {
    for (size_t at = burst.begin; at < burst.end; ++at) tokens[at] = fresh--;
  }
  return tokens;
}

// How far a few kernels alone repeat, whatever the period that is looked for.
class SmallLoops {
 public:
  explicit SmallLoops(std::span<const uint32_t> tokens) : tokens_(tokens) {}

  // Share of [begin, end) that is the same as `period` tokens before.
  double agreement(uint32_t period, size_t begin, size_t end) {
    std::optional<Likeness>& like = by_period_[period - 1];
    if (!like) like.emplace(tokens_, period);
    return static_cast<double>(like->count(begin + period, end)) /
           static_cast<double>(end - begin - period);
  }

 private:
  std::span<const uint32_t> tokens_;
  std::array<std::optional<Likeness>, kSmallPeriod> by_period_;
};

class Stretches {
 public:
  Stretches(std::span<const uint32_t> tokens, uint32_t period, SmallLoops& loops)
      : like_(tokens, period), size_(tokens.size()), period_(period), loops_(loops) {}

  // Stretches in which every window of one period is at least two thirds like the one before.
  void find(std::vector<RepeatedStretch>& found) {
    const size_t whole = 2 * size_t{period_};  // the first window's end
    if (size_ < whole) return;
    const size_t needed = (whole + 2) / 3;
    size_t like = like_.count(period_, whole);
    bool inside = like >= needed;
    size_t begin = period_;
    for (size_t row = whole; row < size_; row += Likeness::kBits) {
      const uint64_t come = like_.from(row);
      const uint64_t go = like_.from(row - period_);
      const auto more = static_cast<size_t>(std::popcount(come & ~go));
      const auto fewer = static_cast<size_t>(std::popcount(go & ~come));
      // Mostly no window of these can change what holds.
      if (inside ? like >= needed + fewer : like + more < needed) {
        like = like + more - fewer;
        continue;
      }
      const size_t end = std::min(size_, row + Likeness::kBits);
      for (size_t i = row; i < end; ++i) {
        like = like + (come >> (i - row) & 1U) - (go >> (i - row) & 1U);
        const bool good = like >= needed;
        if (good && !inside) begin = i + 1 - period_;
        if (!good && inside) settle(begin, i, found);
        inside = good;
      }
    }
    if (inside) settle(begin, size_, found);
  }

 private:
  // Tokens at [begin, end) are like those one period before; draws in the edges to what is.
  void settle(size_t begin, size_t end, std::vector<RepeatedStretch>& found) {
    while (begin < end && !like_.at(begin)) ++begin;
    while (end > begin && !like_.at(end - 1)) --end;
    begin -= period_;
    const size_t count = (end - begin + period_ / 4) / period_;
    if (count < kFewestRepeats) return;
    const double agreement = static_cast<double>(like_.count(begin + period_, end)) /
                             static_cast<double>(end - begin - period_);
    if (agreement < kLeastAgreement || is_a_multiple(begin, end, agreement)) return;
    found.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), period_,
                     static_cast<uint32_t>(count), agreement});
  }

  // Whether a few kernels repeat all the time: a loop smaller than any layer.
  [[nodiscard]] bool is_a_multiple(size_t begin, size_t end, double agreement) {
    for (uint32_t part = 1; part <= kSmallPeriod && part < period_; ++part) {
      if (period_ % part != 0) continue;
      if (loops_.agreement(part, begin, end) >= agreement - kAboutAsMuch) return true;
    }
    return false;
  }

  Likeness like_;
  size_t size_;
  uint32_t period_;
  SmallLoops& loops_;
};

}  // namespace

std::vector<RepeatedStretch> find_repeats(std::span<const uint32_t> sequence) {
  std::vector<RepeatedStretch> found;
  const std::vector<uint32_t> tokens = without_bursts(sequence);
  SmallLoops loops(tokens);
  for (const uint32_t period : frequent_periods(tokens)) {
    Stretches(tokens, period, loops).find(found);
  }
  std::sort(found.begin(), found.end(), [](const RepeatedStretch& a, const RepeatedStretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length() > b.length();
  });
  return found;
}

}  // namespace llmprof::analysis
