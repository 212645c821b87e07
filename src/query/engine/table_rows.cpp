#include "query/engine/table_rows.h"

#include <algorithm>
#include <numeric>

#include "base/needed.h"

namespace llmprof::query {

TableRows::TableRows(const Table& table, std::vector<NamedPart> parts) : parts_(std::move(parts)) {
  uint64_t rows = 0;
  for (const NamedPart& each : parts_) {
    first_.push_back(static_cast<uint32_t>(rows));
    rows += each.part.rows;
    auto& columns = columns_.emplace_back();
    runs_.push_back(constant(each.run));
    columns.push_back(runs_.back().get());
    for (const Values& own : each.part.columns) columns.push_back(own.get());
  }
  if (rows > UINT32_MAX) {
    give_up(ErrorKind::input,
            table.name + " has more than 4,294,967,295 rows; query fewer runs at once");
  }
  first_.push_back(static_cast<uint32_t>(rows));
}

TableRows::Place TableRows::place_of(uint32_t row) const {
  if (parts_.size() == 1) return {0, row};
  const auto after = std::upper_bound(first_.begin(), first_.end() - 1, row);
  const auto part = static_cast<size_t>(after - first_.begin()) - 1;
  return {part, row - first_[part]};
}

bool TableRows::is_coded(size_t column) const {
  for (size_t part = 0; part < parts_.size(); ++part) {
    if (this->column(part, column).codes() == 0) return false;
  }
  return !parts_.empty();
}

double TableRows::share_of_value(size_t column) const {
  uint32_t most = 1;
  size_t changes = 0;  // between the first rows of neighbors: a run, a rank
  std::string scratch;
  Value before;
  for (size_t part = 0; part < parts_.size(); ++part) {
    most = std::max(most, this->column(part, column).codes());
    if (parts_[part].part.rows == 0) continue;
    const Value first = this->column(part, column).at(0, scratch);
    if (part > 0 && (precedes(before, first) || precedes(first, before))) ++changes;
    before = first;
  }
  return 1.0 / static_cast<double>(std::max<size_t>(most, changes + 1));
}

bool TableRows::is_ascending(size_t column) {
  const auto [known, is_new] = ascending_.try_emplace(column, true);
  if (!is_new) return known->second;
  std::string scratch;
  for (size_t part = 0; part < parts_.size() && known->second; ++part) {
    Value before;
    for (size_t row = 0; row < parts_[part].part.rows; ++row) {
      const Value value = this->column(part, column).at(row, scratch);
      if (precedes(value, before)) known->second = false;
      before = value;
    }
  }
  return known->second;
}

const TableRows::Groups& TableRows::groups(size_t column) {
  const auto [known, is_new] = groups_.try_emplace(column);
  Groups& groups = known->second;
  if (!is_new) return groups;
  struct Used {
    Value value;
    size_t part = 0;
    uint32_t code = 0;
    uint32_t rows = 0;
  };
  std::vector<Used> used;
  for (size_t part = 0; part < parts_.size(); ++part) {
    const ColumnValues& values = this->column(part, column);
    std::vector<uint32_t> counts(values.codes(), 0);
    for (size_t row = 0; row < parts_[part].part.rows; ++row) ++counts[values.code(row)];
    for (uint32_t code = 0; code < counts.size(); ++code) {
      if (counts[code] > 0) used.push_back({values.decoded(code), part, code, counts[code]});
    }
    groups.ranks.emplace_back(counts.size(), 0);
  }
  std::ranges::stable_sort(used, precedes, &Used::value);
  uint32_t rows = 0;
  for (const Used& each : used) {
    if (groups.values.empty() || !same(groups.values.back(), each.value)) {
      groups.values.push_back(each.value);
      groups.begin.push_back(rows);
    }
    groups.ranks[each.part][each.code] = static_cast<uint32_t>(groups.values.size() - 1);
    rows += each.rows;
  }
  groups.begin.push_back(rows);
  return groups;
}

std::shared_ptr<const RowList> TableRows::grouped(size_t column) {
  for (const auto& [known, list] : lists_) {
    if (list && known == column) return list;
  }
  const Groups& groups = this->groups(column);
  auto list = std::make_shared<RowList>(size());
  std::vector<uint32_t> next(groups.begin.begin(), groups.begin.end() - 1);
  for (size_t part = 0; part < parts_.size(); ++part) {
    const ColumnValues& values = this->column(part, column);
    for (size_t row = 0; row < parts_[part].part.rows; ++row) {
      (*list)[next[groups.ranks[part][values.code(row)]]++] =
          first_[part] + static_cast<uint32_t>(row);
    }
  }
  lists_[next_list_++ % lists_.size()] = {column, list};
  return list;
}

TableRows::GroupedRows TableRows::with_groups(size_t column) {
  auto rows = grouped(column);
  const Groups& groups = this->groups(column);
  return {std::move(rows), groups.begin, groups.values};
}

std::span<const uint32_t> TableRows::rows_with(size_t column, const Value& value,
                                               const RowList& grouped) {
  const Groups& groups = this->groups(column);
  const auto found = std::ranges::lower_bound(groups.values, value, precedes);
  if (found == groups.values.end() || !same(*found, value)) return {};
  const auto group = static_cast<size_t>(found - groups.values.begin());
  return std::span(grouped).subspan(groups.begin[group],
                                    groups.begin[group + 1] - groups.begin[group]);
}

void TableRows::sort(RowList& rows, std::span<const Key> keys) {
  RowList sorted(rows.size());
  for (size_t i = keys.size(); i-- > 0;) {
    const Groups& groups = this->groups(keys[i].column);
    const auto last = static_cast<uint32_t>(groups.values.size());
    const auto rank_of = [&](uint32_t row) {
      const Place place = place_of(row);
      const uint32_t code = column(place.part, keys[i].column).code(place.row);
      const uint32_t rank = groups.ranks[place.part][code];
      return keys[i].descending ? last - 1 - rank : rank;
    };
    std::vector<uint32_t> next(size_t{last} + 1, 0);
    for (const uint32_t row : rows) ++next[rank_of(row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const uint32_t row : rows) sorted[next[rank_of(row)]++] = row;
    rows.swap(sorted);
  }
}

TableRows::Range TableRows::between(size_t part, size_t column, Bound least, Bound most) const {
  const ColumnValues& values = this->column(part, column);
  const size_t rows = parts_[part].part.rows;
  std::string scratch;
  const auto first_row = [&](const auto& is_before) {
    size_t low = 0;
    size_t high = rows;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (is_before(values.at(middle, scratch))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return static_cast<uint32_t>(low);
  };
  Range range{0, static_cast<uint32_t>(rows)};
  if (least.value != nullptr) {
    range.begin = first_row([&](const Value& value) {
      return least.is_outside ? !precedes(*least.value, value) : precedes(value, *least.value);
    });
  } else if (most.value != nullptr) {
    range.begin = first_row([](const Value& value) { return value.kind == Value::Kind::null; });
  }
  if (most.value != nullptr) {
    range.end = first_row([&](const Value& value) {
      return most.is_outside ? precedes(value, *most.value) : !precedes(*most.value, value);
    });
  }
  range.end = std::max(range.begin, range.end);
  return {first_[part] + range.begin, first_[part] + range.end};
}

TableRows::Range TableRows::numbered(size_t part, int64_t number) const {
  if (number < 0 || static_cast<uint64_t>(number) >= parts_[part].part.rows) return {};
  const auto row = first_[part] + static_cast<uint32_t>(number);
  return {row, row + 1};
}

}  // namespace llmprof::query
