#include "job/partial/columns.h"

#include <bit>

namespace llmprof::job {
namespace {

// Each as the difference from the one `apart` places before it.
void write_numbers(const PackedNumbers& numbers, size_t apart, ColumnWriter& out) {
  out.count(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t before = i < apart ? 0 : numbers[i - apart];
    out.difference(static_cast<uint64_t>(numbers[i]), static_cast<uint64_t>(before));
  }
}

bool read_numbers(ColumnReader& in, size_t apart, PackedNumbers& numbers) {
  const uint64_t count = in.count();
  if (count > in.left()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t before = i < apart ? 0 : numbers[i - apart];
    numbers.push_back(static_cast<int64_t>(in.difference(static_cast<uint64_t>(before))));
  }
  numbers.shrink();
  return !in.damaged();
}

void write_texts(const std::vector<std::string>& texts, ColumnWriter& out) {
  out.count(texts.size());
  for (const std::string& text : texts) out.text(text);
}

bool read_texts(ColumnReader& in, std::vector<std::string>& texts) {
  const uint64_t count = in.count();
  if (count > in.left()) return false;
  for (uint64_t i = 0; i < count; ++i) texts.emplace_back(in.text());
  return !in.damaged();
}

// Values of the same name are so far apart, where all rows have the same ones.
size_t names_of_a_row(const StepColumn& column) {
  return column.lists.empty() || column.lists.back().empty() ? 1 : column.lists.back().size();
}

bool read_column(ColumnReader& in, StepColumn& column) {
  if (!read_numbers(in, 1, column.numbers) || !read_texts(in, column.texts)) return false;
  const uint64_t lists = in.count();
  if (lists > in.left()) return false;
  for (uint64_t i = 0; i < lists; ++i) {
    if (!read_texts(in, column.lists.emplace_back())) return false;
  }
  if (!read_numbers(in, names_of_a_row(column), column.values)) return false;
  const uint64_t parts = in.count();
  if (parts > in.left()) return false;
  for (uint64_t i = 0; i < parts; ++i) {
    const uint64_t row = in.count();
    if (!column.parts.empty() && row <= column.parts.back().first) return false;
    column.parts.emplace_back(row, std::bit_cast<double>(in.count()));
  }
  return !in.damaged();
}

}  // namespace

void write_step_columns(const PackedSteps& from, ColumnWriter& out) {
  out.count(from.size());
  if (from.empty()) return;
  for (const StepColumn& column : from.columns()) {
    write_numbers(column.numbers, 1, out);
    write_texts(column.texts, out);
    out.count(column.lists.size());
    for (const auto& names : column.lists) write_texts(names, out);
    write_numbers(column.values, names_of_a_row(column), out);
    out.count(column.parts.size());
    for (const auto& [row, number] : column.parts) {
      out.count(row);
      out.count(std::bit_cast<uint64_t>(number));
    }
  }
}

std::optional<PackedSteps> read_step_columns(ColumnReader& in) {
  const uint64_t rows = in.count();
  if (in.damaged() || rows > in.left()) return std::nullopt;
  if (rows == 0) return PackedSteps();
  std::vector<StepColumn> columns(PackedSteps::column_count());
  for (StepColumn& column : columns) {
    if (!read_column(in, column)) return std::nullopt;
  }
  return PackedSteps::of_columns(std::move(columns), rows);
}

}  // namespace llmprof::job
