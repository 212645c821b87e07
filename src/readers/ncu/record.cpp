#include "readers/ncu/record.h"

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr size_t kReadableBehindCell = 8;

}  // namespace

NcuLine ncu_line_kind(std::string_view text) {
  if (text.size() < 3 || text[0] != '"') return NcuLine::other;
  if (text.starts_with("\"\",")) return NcuLine::units;
  if (text.starts_with("\"ID\",")) return NcuLine::header;
  constexpr size_t kLongestNumber = 20;
  size_t at = 1;
  while (at < text.size() && at <= kLongestNumber && is_digit(text[at])) ++at;
  return at > 1 && text.substr(at).starts_with("\",") ? NcuLine::record : NcuLine::other;
}

std::string_view undo_doubled_quotes(std::string_view cell, std::deque<std::string>& undone) {
  std::string& plain = undone.emplace_back();
  plain.reserve(cell.size() + kReadableBehindCell);
  for (size_t i = 0; i < cell.size(); ++i) {
    plain += cell[i];
    if (cell[i] == '"') ++i;
  }
  const size_t length = plain.size();
  plain.append(kReadableBehindCell, '\0');
  return std::string_view(plain).substr(0, length);
}

double ncu_unusual_value(std::string_view cell, double scale, NcuNumbers& numbers) {
  double value = 0;
  const NcuNumber kind = parse_ncu_number(cell, numbers.convention, value);
  if (kind == NcuNumber::value) return value * scale;
  numbers.other_convention += kind == NcuNumber::other_convention ? 1 : 0;
  return std::numeric_limits<double>::quiet_NaN();
}

size_t NcuSplitter::split(std::string_view text) {
  cells_.clear();
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  while (true) {
    const char* const cell = at;
    if (at < end && *at == '"') {
      const NcuQuotedCell quoted = ncu_quoted_cell(at, end);
      if (quoted.end == nullptr) return 0;
      const std::string_view content(cell + 1, static_cast<size_t>(quoted.end - cell - 1));
      cells_.push_back(quoted.doubled ? undo_doubled_quotes(content, undone_) : content);
      at = quoted.end + 1;
    } else {
      while (at < end && *at != ',' && *at != '\n' && *at != '\r') ++at;
      cells_.emplace_back(cell, static_cast<size_t>(at - cell));
    }
    if (at < end && *at == ',') {
      ++at;
      continue;
    }
    if (at < end && *at == '\r') ++at;
    if (at == end) return text.size();
    return *at == '\n' ? static_cast<size_t>(at - begin) + 1 : 0;
  }
}

bool add_ncu_record(std::span<const std::string_view> cells, NcuNumbers& numbers, NcuTable& table) {
  const NcuColumns& columns = *table.columns;
  const size_t least = columns.details ? columns.column("Metric Value") + size_t{1} : columns.width;
  if (cells.size() > columns.width || cells.size() < least) return false;
  const uint32_t name = columns.column("Kernel Name");
  if (name >= cells.size() || cells[name].empty()) return false;
  NcuRecord& record = table.records.emplace_back();
  for (size_t i = 0; i < NcuField::kCount; ++i) {
    const uint32_t column = columns.field_column[i];
    if (column < cells.size()) record.fields[i] = cells[column];
  }
  if (columns.details) {
    record.value = ncu_value(record["Metric Value"], 1, numbers);
    return true;
  }
  for (size_t i = 0; i < columns.metric_column.size(); ++i) {
    table.values.push_back(
        ncu_value(cells[columns.metric_column[i]], columns.metric_scale[i], numbers));
  }
  return true;
}

}  // namespace llmprof::readers
