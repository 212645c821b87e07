#include "compare/kernels/match.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace llmprof::compare {
namespace {

using Block = profile::PassBlock;

std::vector<Block> blocks_of(const std::vector<PlacedKernel>& base,
                             const std::vector<PlacedKernel>& now) {
  std::vector<Block> blocks;
  for (const auto* rows : {&base, &now}) {
    for (const PlacedKernel& row : *rows) {
      if (std::ranges::find(blocks, row.block) == blocks.end()) blocks.push_back(row.block);
    }
  }
  return blocks;
}

// GEMMs and attention, whose work no kernel of another kind can do.
std::optional<profile::KernelClass> heavy_family(profile::KernelClass kernel_class) {
  using enum profile::KernelClass;
  if (is_product(kernel_class)) return gemm;
  if (kernel_class != attention && kernel_class != communication) return std::nullopt;
  return kernel_class;
}

using HeavyWork = std::set<profile::KernelClass>;

HeavyWork heavy_work(const std::vector<PlacedKernel>& rows, const std::vector<size_t>& which) {
  HeavyWork found;
  for (const size_t row : which) {
    if (const auto family = heavy_family(rows[row].kernel_class)) found.insert(*family);
  }
  return found;
}

// Beyond this, the table of all pairs is too large: the n-th launch of a name matches the other's
// n-th.
constexpr size_t kMostPairs = 4'000'000;
constexpr uint32_t kSameName = 1024;  // outweighs any number of equal shapes
constexpr uint32_t kSameShape = 1;

uint32_t likeness(const PlacedKernel& a, const PlacedKernel& b) {
  if (a.key != b.key) return 0;
  return a.grid == b.grid && a.block_size == b.block_size ? kSameName + kSameShape : kSameName;
}

using RowsOfBlock = std::vector<const PlacedKernel*>;

// The longest common subsequence of kernels: pairs of places in `base` and `now`, which are rows of
// one block. Among equally long ones, the one with the most equal shapes. A layer has no natural
// start: `now` is rotated until it fits best, and `turn` is its start then.
struct CommonRows {
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t turn = 0;
  uint64_t score = 0;
};

CommonRows align(const RowsOfBlock& base, const RowsOfBlock& now, size_t turn) {
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
  CommonRows found{{}, turn, best[0]};
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

CommonRows by_occurrence(const RowsOfBlock& base, const RowsOfBlock& now) {
  std::map<std::pair<std::string, uint64_t>, size_t> places;
  for (size_t j = 0; j < now.size(); ++j) places[{now[j]->key, now[j]->occurrence}] = j;
  CommonRows found;
  auto& pairs = found.pairs;
  for (size_t i = 0; i < base.size(); ++i) {
    const auto known = places.find({base[i]->key, base[i]->occurrence});
    if (known == places.end()) continue;
    // Only in order, as in the table.
    if (pairs.empty() || pairs.back().second < known->second) pairs.emplace_back(i, known->second);
  }
  return found;
}

CommonRows common_rows(const RowsOfBlock& base, const RowsOfBlock& now, bool may_turn) {
  if (base.empty() || now.empty()) return {};
  if (base.size() > kMostPairs / now.size()) return by_occurrence(base, now);
  CommonRows best = align(base, now, 0);
  if (!may_turn || best.pairs.size() == std::min(base.size(), now.size())) return best;
  for (size_t i = 1; i < now.size(); ++i) {
    if (now[i]->key != base.front()->key) continue;
    CommonRows other = align(base, now, i);
    if (other.score > best.score) best = std::move(other);
  }
  return best;
}

class Matching {
 public:
  Matching(const std::vector<PlacedKernel>& base, const std::vector<PlacedKernel>& now)
      : base_(base), now_(now), base_done_(base.size()), now_done_(now.size()) {}

  void by_place() {
    for (const Block block : blocks_of(base_, now_)) match_block(block);
  }

  // Pairs the first remaining row of each side with the same key.
  template <class KeyOf>
  void pair_up(MatchedBy by, KeyOf key_of) {
    std::multimap<decltype(key_of(base_[0])), size_t> open;
    for (size_t j = 0; j < now_.size(); ++j) {
      if (!now_done_[j]) open.emplace(key_of(now_[j]), j);
    }
    for (size_t i = 0; i < base_.size(); ++i) {
      if (base_done_[i]) continue;
      const auto known = open.find(key_of(base_[i]));
      if (known == open.end()) continue;
      add({{i}, {known->second}, by});
      open.erase(known);
    }
  }

  // Pairs classes with one kernel left on each side.
  void pair_lone_classes() {
    const auto count = [](const std::vector<PlacedKernel>& rows, const std::vector<bool>& done) {
      std::map<profile::KernelClass, uint64_t> counts;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (!done[i]) ++counts[rows[i].kernel_class];
      }
      return counts;
    };
    const auto base = count(base_, base_done_);
    const auto now = count(now_, now_done_);
    pair_up(MatchedBy::one_class, [&](const PlacedKernel& row) {
      const auto in_base = base.find(row.kernel_class);
      const auto in_now = now.find(row.kernel_class);
      const bool lone = in_base != base.end() && in_now != now.end() && in_base->second == 1 &&
                        in_now->second == 1;
      return std::pair(row.kernel_class, lone ? std::string() : row.key);
    });
  }

  std::vector<Match> take() {
    for (size_t i = 0; i < base_.size(); ++i) {
      if (!base_done_[i]) matches_.push_back({{i}, {}, {}});
    }
    for (size_t j = 0; j < now_.size(); ++j) {
      if (!now_done_[j]) matches_.push_back({{}, {j}, {}});
    }
    return std::move(matches_);
  }

 private:
  void add(Match match) {
    for (const size_t i : match.base) base_done_[i] = true;
    for (const size_t j : match.now) now_done_[j] = true;
    matches_.push_back(std::move(match));
  }

  void match_block(Block block) {
    std::vector<size_t> base = rows_of(base_, block);
    std::vector<size_t> now = rows_of(now_, block);
    const auto pointers = [](const std::vector<PlacedKernel>& rows,
                             const std::vector<size_t>& which) {
      RowsOfBlock found;
      for (const size_t row : which) found.push_back(&rows[row]);
      return found;
    };
    const CommonRows common =
        common_rows(pointers(base_, base), pointers(now_, now), block == profile::PassBlock::layer);
    if (common.turn > 0) {
      std::rotate(now.begin(), now.begin() + static_cast<ptrdiff_t>(common.turn), now.end());
    }
    std::vector<std::pair<size_t, size_t>> anchors = common.pairs;
    for (auto& [i, j] : anchors) j = (j + now.size() - common.turn) % now.size();
    for (const auto& [i, j] : anchors) add({{base[i]}, {now[j]}, MatchedBy::name_and_place});
    if (base.empty() || now.empty()) return;
    // A kernel that moved within the block does not replace its new neighbors.
    same_names_within(base, now);
    size_t from = 0;
    size_t to = 0;
    anchors.emplace_back(base.size(), now.size());
    for (const auto& [i, j] : anchors) {
      fill_gap(open(base, base_done_, from, i), open(now, now_done_, to, j));
      from = i + 1;
      to = j + 1;
    }
  }

  static std::vector<size_t> rows_of(const std::vector<PlacedKernel>& rows, Block block) {
    std::vector<size_t> found;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].block == block) found.push_back(i);
    }
    return found;
  }

  static std::vector<size_t> open(const std::vector<size_t>& rows, const std::vector<bool>& done,
                                  size_t first, size_t last) {
    std::vector<size_t> found;
    for (size_t i = first; i < last; ++i) {
      if (!done[rows[i]]) found.push_back(rows[i]);
    }
    return found;
  }

  void same_names_within(const std::vector<size_t>& base, const std::vector<size_t>& now) {
    for (const size_t i : base) {
      if (base_done_[i]) continue;
      for (const size_t j : now) {
        if (now_done_[j] || now_[j].key != base_[i].key) continue;
        add({{i}, {j}, MatchedBy::name});
        break;
      }
    }
  }

  // Between two common kernels, the kernels of one side do the work of the other's, unless one is a
  // GEMM or attention and the other is not.
  void fill_gap(const std::vector<size_t>& base, const std::vector<size_t>& now) {
    if (base.empty() || now.empty()) return;
    const bool fused = base.size() >= now.size();
    const auto& few_rows = fused ? now_ : base_;
    const auto& many_rows = fused ? base_ : now_;
    for (auto& [one, several] :
         spread(few_rows, fused ? now : base, many_rows, fused ? base : now)) {
      if (heavy_work(few_rows, {one}) != heavy_work(many_rows, several)) continue;
      Match match{std::move(several), {one}, MatchedBy::place};
      if (!fused) std::swap(match.base, match.now);
      add(std::move(match));
    }
  }

  using Spread = std::vector<std::pair<size_t, std::vector<size_t>>>;

  // Cuts `many` into as many consecutive pieces as there are `few`, so that most pieces do the same
  // work as theirs and contain a kernel of its class.
  static Spread spread(const std::vector<PlacedKernel>& few_rows, const std::vector<size_t>& few,
                       const std::vector<PlacedKernel>& many_rows,
                       const std::vector<size_t>& many) {
    // best[f][m]: how well the first f of few fit the first m of many.
    constexpr int kNone = -1;
    constexpr int kSameWork = 4;
    std::vector<std::vector<int>> best(few.size() + 1, std::vector<int>(many.size() + 1, kNone));
    std::vector<std::vector<size_t>> cut(few.size() + 1, std::vector<size_t>(many.size() + 1, 0));
    best[0][0] = 0;
    for (size_t f = 1; f <= few.size(); ++f) {
      const PlacedKernel& one = few_rows[few[f - 1]];
      for (size_t m = f; m <= many.size(); ++m) {
        bool holds = false;
        HeavyWork work;
        for (size_t from = m; from-- > f - 1;) {
          const PlacedKernel& added = many_rows[many[from]];
          holds = holds || added.kernel_class == one.kernel_class;
          if (const auto family = heavy_family(added.kernel_class)) work.insert(*family);
          if (best[f - 1][from] == kNone) continue;
          const bool same = work == heavy_work(few_rows, {few[f - 1]});
          const int found = best[f - 1][from] + (same ? kSameWork : 0) + (holds ? 1 : 0);
          if (found <= best[f][m]) continue;
          best[f][m] = found;
          cut[f][m] = from;
        }
      }
    }
    Spread pieces(few.size());
    size_t end = many.size();
    for (size_t f = few.size(); f-- > 0;) {
      const size_t begin = cut[f + 1][end];
      pieces[f] = {few[f],
                   {many.begin() + static_cast<ptrdiff_t>(begin),
                    many.begin() + static_cast<ptrdiff_t>(end)}};
      end = begin;
    }
    return pieces;
  }

  const std::vector<PlacedKernel>& base_;
  const std::vector<PlacedKernel>& now_;
  std::vector<bool> base_done_;
  std::vector<bool> now_done_;
  std::vector<Match> matches_;
};

}  // namespace

ChangeKind change_of(const Match& match, const std::vector<PlacedKernel>& base,
                     const std::vector<PlacedKernel>& now) {
  if (match.base.empty()) return ChangeKind::added;
  if (match.now.empty()) return ChangeKind::removed;
  if (match.base.size() > match.now.size()) return ChangeKind::fused;
  if (match.base.size() < match.now.size()) return ChangeKind::split;
  return base[match.base.front()].key == now[match.now.front()].key ? ChangeKind::matched
                                                                    : ChangeKind::replaced;
}

std::vector<Match> match_rows(const std::vector<PlacedKernel>& base,
                              const std::vector<PlacedKernel>& now, bool by_place) {
  if (base.empty() || now.empty()) return Matching(base, now).take();
  Matching matching(base, now);
  if (by_place) matching.by_place();
  matching.pair_up(MatchedBy::name, [](const PlacedKernel& row) { return row.key; });
  // A grid of one block does not distinguish kernels.
  matching.pair_up(MatchedBy::class_and_shape, [](const PlacedKernel& row) {
    const bool distinguishes = row.grid[0] > 1 || row.grid[1] > 1 || row.grid[2] > 1;
    return std::tuple(row.kernel_class, row.grid, row.block_size, distinguishes ? "" : row.key);
  });
  if (!by_place) matching.pair_lone_classes();
  return matching.take();
}

}  // namespace llmprof::compare
