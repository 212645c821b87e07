#include "analysis/requests/delivery_delay.h"

#include <algorithm>
#include <vector>

#include "analysis/stages/thresholds.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kSample = 4096;       // batches
constexpr Nanoseconds kPerPeriod = 8;  // tried delays per time between two batches
constexpr Nanoseconds kPeriods = 32;   // longest tried delay
constexpr double kFew = 0.2;           // of the rows, that miss their tokens or have too many
constexpr double kNearlyAsGood = 0.1;  // of what the best delay gains

// Arrivals of single tokens, in order.
std::vector<Nanoseconds> arrivals(std::span<const TokenChunk> chunks, Nanoseconds from,
                                  Nanoseconds to) {
  std::vector<Nanoseconds> times;
  for (const TokenChunk& chunk : chunks) {
    if (chunk.time > from && chunk.time <= to) times.insert(times.end(), chunk.tokens, chunk.time);
  }
  std::ranges::sort(times);
  return times;
}

// The batches in the middle of those that a client could have tokens of.
std::span<const JoinBatch> sample(std::span<const JoinBatch> batches,
                                  std::span<const TokenChunk> chunks) {
  const auto [first, last] =
      std::ranges::minmax(chunks, {}, [](const TokenChunk& chunk) { return chunk.time; });
  const auto at = [&](Nanoseconds time) {
    return std::ranges::upper_bound(batches, time, {}, &JoinBatch::results) - batches.begin();
  };
  const auto begin = static_cast<size_t>(at(first.time));
  const auto end = static_cast<size_t>(at(last.time));
  const size_t count = std::min(end - begin, kSample);
  return batches.subspan(begin + (end - begin - count) / 2, count);
}

class Trials {
 public:
  Trials(std::span<const JoinBatch> batches, std::span<const TokenChunk> chunks)
      : batches_(sample(batches, chunks)) {
    if (batches_.size() < threshold::kMany) return;
    std::vector<Nanoseconds> periods;
    for (size_t i = 1; i < batches_.size(); ++i) {
      periods.push_back(batches_[i].results - batches_[i - 1].results);
    }
    step_ = std::max<Nanoseconds>(median(std::move(periods)) / kPerPeriod, 1);
    times_ = arrivals(chunks, batches_.front().results,
                      batches_.back().results + step_ * kPerPeriod * kPeriods);
  }

  [[nodiscard]] Nanoseconds best() const {
    if (batches_.size() < threshold::kMany) return 0;
    const double now = misses(0);
    if (now <= kFew) return 0;
    std::vector<double> tried{now};
    for (Nanoseconds i = 1; i <= kPerPeriod * kPeriods; ++i) tried.push_back(misses(i * step_));
    const double fewest = *std::ranges::min_element(tried);
    const double enough = fewest + kNearlyAsGood * (now - fewest);
    const auto first = std::ranges::find_if(tried, [&](double share) { return share <= enough; });
    return (first - tried.begin()) * step_;
  }

 private:
  // Rows without a token and tokens without a row, over the rows, if all tokens took that long.
  [[nodiscard]] double misses(Nanoseconds delay) const {
    uint64_t rows = 0;
    uint64_t missed = 0;
    auto next = times_.begin();
    for (size_t i = 0; i + 1 < batches_.size(); ++i) {
      while (next != times_.end() && *next < batches_[i].results + delay) ++next;
      const auto from = next;
      while (next != times_.end() && *next < batches_[i + 1].results + delay) ++next;
      if (!batches_[i].rows || batches_[i + 1].after_break) continue;
      const auto tokens = static_cast<uint64_t>(next - from);
      rows += *batches_[i].rows;
      missed += std::max(tokens, *batches_[i].rows) - std::min(tokens, *batches_[i].rows);
    }
    return rows == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(rows);
  }

  std::span<const JoinBatch> batches_;
  Nanoseconds step_ = 1;
  std::vector<Nanoseconds> times_;
};

}  // namespace

Nanoseconds shortest_delay(std::span<const JoinBatch> batches, std::span<const TokenChunk> chunks) {
  if (batches.empty() || chunks.empty()) return 0;
  return Trials(batches, chunks).best();
}

}  // namespace llmprof::analysis
