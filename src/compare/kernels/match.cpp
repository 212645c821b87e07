#include "compare/kernels/match.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace llmprof::compare {
namespace {

using Block = std::optional<profile::PassBlock>;

constexpr std::string_view kByNameAndPlace = "name_and_place";
constexpr std::string_view kByPlace = "place";
constexpr std::string_view kByClassAndShape = "class_and_shape";
constexpr std::string_view kByName = "name";
constexpr std::string_view kByClass = "class";

std::vector<Block> blocks_of(const std::vector<PlacedRow>& base,
                             const std::vector<PlacedRow>& now) {
  std::vector<Block> blocks;
  for (const auto* rows : {&base, &now}) {
    for (const PlacedRow& row : *rows) {
      if (std::ranges::find(blocks, row.block) == blocks.end()) {
        blocks.push_back(row.block);
      }
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

HeavyWork heavy_work(const std::vector<PlacedRow>& rows, const std::vector<size_t>& which) {
  HeavyWork found;
  for (const size_t row : which) {
    if (const auto family = heavy_family(rows[row].kernel_class)) found.insert(*family);
  }
  return found;
}

class Matching {
 public:
  Matching(const std::vector<PlacedRow>& base, const std::vector<PlacedRow>& now)
      : base_(base), now_(now), base_done_(base.size()), now_done_(now.size()) {}

  void by_place() {
    for (const Block block : blocks_of(base_, now_)) match_block(block);
  }

  // Pairs the first remaining row of each side with the same key.
  template <class KeyOf>
  void pair_up(std::string_view by, KeyOf key_of) {
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
    const auto count = [](const std::vector<PlacedRow>& rows, const std::vector<bool>& done) {
      std::map<profile::KernelClass, uint64_t> counts;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (!done[i]) ++counts[rows[i].kernel_class];
      }
      return counts;
    };
    const auto base = count(base_, base_done_);
    const auto now = count(now_, now_done_);
    pair_up(kByClass, [&](const PlacedRow& row) {
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
    const auto pointers = [](const std::vector<PlacedRow>& rows, const std::vector<size_t>& which) {
      std::vector<const PlacedRow*> found;
      found.reserve(which.size());
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
    for (const auto& [i, j] : anchors) add({{base[i]}, {now[j]}, kByNameAndPlace});
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

  static std::vector<size_t> rows_of(const std::vector<PlacedRow>& rows, Block block) {
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
        add({{i}, {j}, kByName});
        break;
      }
    }
  }

  // Between two common kernels, the kernels of one side do the work of the other's, unless one is a
  // GEMM or attention and the other is not.
  void fill_gap(const std::vector<size_t>& base, const std::vector<size_t>& now) {
    if (base.empty() || now.empty()) return;
    if (base.size() >= now.size()) {
      for (auto& [one, several] : spread(now_, now, base_, base)) {
        if (same_work(now_, {one}, base_, several)) add({std::move(several), {one}, kByPlace});
      }
    } else {
      for (auto& [one, several] : spread(base_, base, now_, now)) {
        if (same_work(base_, {one}, now_, several)) add({{one}, std::move(several), kByPlace});
      }
    }
  }

  static bool same_work(const std::vector<PlacedRow>& few_rows, const std::vector<size_t>& few,
                        const std::vector<PlacedRow>& many_rows, const std::vector<size_t>& many) {
    return heavy_work(few_rows, few) == heavy_work(many_rows, many);
  }

  using Spread = std::vector<std::pair<size_t, std::vector<size_t>>>;

  // Cuts `many` into as many consecutive pieces as there are `few`, so that most pieces do the same
  // work as theirs and contain a kernel of its class.
  static Spread spread(const std::vector<PlacedRow>& few_rows, const std::vector<size_t>& few,
                       const std::vector<PlacedRow>& many_rows, const std::vector<size_t>& many) {
    // best[f][m]: how well the first f of few fit the first m of many.
    constexpr int kNone = -1;
    constexpr int kSameWork = 4;
    std::vector<std::vector<int>> best(few.size() + 1, std::vector<int>(many.size() + 1, kNone));
    std::vector<std::vector<size_t>> cut(few.size() + 1, std::vector<size_t>(many.size() + 1, 0));
    best[0][0] = 0;
    for (size_t f = 1; f <= few.size(); ++f) {
      const PlacedRow& one = few_rows[few[f - 1]];
      for (size_t m = f; m <= many.size(); ++m) {
        bool holds = false;
        HeavyWork work;
        for (size_t from = m; from-- > f - 1;) {
          const PlacedRow& added = many_rows[many[from]];
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

  const std::vector<PlacedRow>& base_;
  const std::vector<PlacedRow>& now_;
  std::vector<bool> base_done_;
  std::vector<bool> now_done_;
  std::vector<Match> matches_;
};

}  // namespace

ChangeKind change_of(const Match& match, const std::vector<PlacedRow>& base,
                     const std::vector<PlacedRow>& now) {
  if (match.base.empty()) return ChangeKind::added;
  if (match.now.empty()) return ChangeKind::removed;
  if (match.base.size() > match.now.size()) return ChangeKind::fused;
  if (match.base.size() < match.now.size()) return ChangeKind::split;
  return base[match.base.front()].key == now[match.now.front()].key ? ChangeKind::matched
                                                                    : ChangeKind::replaced;
}

std::vector<Match> match_rows(const std::vector<PlacedRow>& base, const std::vector<PlacedRow>& now,
                              bool by_place) {
  if (base.empty() || now.empty()) return Matching(base, now).take();
  Matching matching(base, now);
  if (by_place) matching.by_place();
  matching.pair_up(kByName, [](const PlacedRow& row) { return row.key; });
  // A grid of one block does not distinguish kernels.
  matching.pair_up(kByClassAndShape, [](const PlacedRow& row) {
    const bool tells = row.grid[0] > 1 || row.grid[1] > 1 || row.grid[2] > 1;
    return std::tuple(row.kernel_class, row.grid, row.block_size, tells ? "" : row.key);
  });
  if (!by_place) matching.pair_lone_classes();
  return matching.take();
}

}  // namespace llmprof::compare
