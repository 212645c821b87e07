#include "compare/kernels/match.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace llmprof::compare {
namespace {

// Beyond this, the table of all pairs is too large: the n-th launch of a name matches the other's
// n-th.
constexpr size_t kMostPairs = 4'000'000;
constexpr uint32_t kSameName = 1024;  // outweighs any number of equal shapes
constexpr uint32_t kSameShape = 1;

uint32_t likeness(const PlacedRow& a, const PlacedRow& b) {
  if (a.key != b.key) return 0;
  return a.grid == b.grid && a.block_size == b.block_size ? kSameName + kSameShape : kSameName;
}

struct Aligned {
  uint64_t score = 0;
  std::vector<std::pair<size_t, size_t>> pairs;
};

Aligned align(const std::vector<const PlacedRow*>& base, const std::vector<const PlacedRow*>& now,
              size_t turn) {
  const size_t width = now.size() + 1;
  const auto turned = [&](size_t i) { return (i + turn) % now.size(); };
  std::vector<uint64_t> best((base.size() + 1) * width, 0);
  for (size_t i = base.size(); i-- > 0;) {
    for (size_t j = now.size(); j-- > 0;) {
      uint64_t& here = best[i * width + j];
      here = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      const uint32_t like = likeness(*base[i], *now[turned(j)]);
      if (like > 0) here = std::max(here, like + best[(i + 1) * width + j + 1]);
    }
  }
  Aligned found;
  found.score = best[0];
  for (size_t i = 0, j = 0; i < base.size() && j < now.size();) {
    const uint32_t like = likeness(*base[i], *now[turned(j)]);
    if (like > 0 && best[i * width + j] == like + best[(i + 1) * width + j + 1]) {
      found.pairs.emplace_back(i++, turned(j++));
    } else if (best[i * width + j] == best[(i + 1) * width + j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return found;
}

std::vector<std::pair<size_t, size_t>> by_occurrence(const std::vector<const PlacedRow*>& base,
                                                     const std::vector<const PlacedRow*>& now) {
  std::map<std::pair<std::string, uint64_t>, size_t> places;
  for (size_t j = 0; j < now.size(); ++j) places[{now[j]->key, now[j]->occurrence}] = j;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < base.size(); ++i) {
    const auto known = places.find({base[i]->key, base[i]->occurrence});
    if (known == places.end()) continue;
    // Only in order, as in the table.
    if (pairs.empty() || pairs.back().second < known->second) pairs.emplace_back(i, known->second);
  }
  return pairs;
}

}  // namespace

CommonRows common_rows(const std::vector<const PlacedRow*>& base,
                       const std::vector<const PlacedRow*>& now, bool may_turn) {
  if (base.empty() || now.empty()) return {};
  if (base.size() > kMostPairs / now.size()) return {by_occurrence(base, now), 0};
  Aligned best = align(base, now, 0);
  size_t turn = 0;
  if (may_turn && best.pairs.size() < std::min(base.size(), now.size())) {
    for (size_t i = 1; i < now.size(); ++i) {
      if (now[i]->key != base.front()->key) continue;
      Aligned other = align(base, now, i);
      if (other.score <= best.score) continue;
      best = std::move(other);
      turn = i;
    }
  }
  return {std::move(best.pairs), turn};
}

}  // namespace llmprof::compare
