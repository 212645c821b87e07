#include "report/terminal/fit_columns.h"

#include <algorithm>
#include <numeric>

namespace llmprof::report {
namespace {

// Takes `excess` away from what can shrink, always from the widest.
void shrink(std::span<const ColumnNeed> needs, size_t excess, std::vector<FittedColumn>& columns) {
  for (; excess > 0; --excess) {
    FittedColumn* widest = nullptr;
    for (FittedColumn& column : columns) {
      if (column.width <= needs[column.index].smallest) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

size_t total(const std::vector<FittedColumn>& columns, size_t gap) {
  return std::accumulate(
      columns.begin(), columns.end(), size_t{0},
      [gap](size_t sum, const FittedColumn& column) { return sum + gap + column.width; });
}

// A wide column that was left out last leaves room for narrow ones that were left out before it.
void take_back(std::span<const ColumnNeed> needs, size_t gap, size_t width, FittedTable& table) {
  for (size_t i = table.left_out.size(); i-- > 0;) {
    const size_t index = table.left_out[i];
    if (total(table.shown, gap) + gap + needs[index].natural > width) continue;
    const auto place =
        std::find_if(table.shown.begin(), table.shown.end(),
                     [&](const FittedColumn& column) { return column.index > index; });
    table.shown.insert(place, {index, needs[index].natural});
    table.left_out.erase(table.left_out.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace

FittedTable fit_columns(std::span<const ColumnNeed> needs, size_t gap, size_t width) {
  FittedTable table;
  std::vector<size_t> kept(needs.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  while (true) {
    table.shown.clear();
    for (const size_t index : kept) table.shown.push_back({index, needs[index].natural});
    if (width == 0 || kept.empty()) return table;
    const size_t wanted = total(table.shown, gap);
    if (wanted <= width) break;
    shrink(needs, wanted - width, table.shown);
    if (total(table.shown, gap) <= width || kept.size() == 1) break;
    const auto least = std::min_element(kept.rbegin(), kept.rend(), [&](size_t a, size_t b) {
      return needs[a].priority < needs[b].priority;
    });
    table.left_out.push_back(*least);
    kept.erase(std::next(least).base());
  }
  take_back(needs, gap, width, table);
  std::sort(table.left_out.begin(), table.left_out.end());
  return table;
}

}  // namespace llmprof::report
