#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/ncu/record.h"

namespace llmprof::readers {

inline constexpr size_t kAhead = 256;

// The first quote at or after `at`; if there is none before `end`, a pointer of at least `end`.
[[gnu::always_inline]] inline const char* find_quote(const char* at, const char* end) {
  while (true) {
    const uint64_t word = word_at(at) ^ (kEveryByte * '"');
    const uint64_t found = (word - kEveryByte) & ~word & (kEveryByte * 0x80);
    if (found != 0) return at + std::countr_zero(found) / 8;
    at += sizeof word;
    if (at >= end) return end;
  }
}

// Whether a cell ends at this quote and another starts: `","`.
[[gnu::always_inline]] inline bool another_cell_follows(const char* quote) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, quote, sizeof bytes);
  return (bytes & 0xFFFFFFU) == (('"' << 16U) | (',' << 8U) | '"');
}

// Reads rows of the raw page several at a time, column by column. The cells of one column are
// similar (same length, with or without a decimal sign), so the processor predicts the branches,
// and the rows do not wait for each other; a row has more than a thousand cells. 0.60 GB/s per
// core, compared with 0.44 row by row.
class NcuRawRows {
 public:
  static constexpr size_t kBatch = 16;

  // Appends a record and the metrics' numbers of each row. `rows` are lines of `text` that start a
  // record; 8 bytes after the text must be readable. Returns how many rows were skipped because
  // they were not complete records.
  uint64_t read(std::string_view text, std::span<const std::string_view> rows, NcuNumbers& numbers,
                NcuSplitter& splitter, NcuTable& table) {
    const NcuColumns& columns = *table.columns;
    const char* const end = text.data() + text.size();
    rows_.clear();
    for (const std::string_view row : rows) rows_.push_back({row.data(), row.data() + 1});
    const size_t metric_count = columns.metric_column.size();
    const size_t first_record = table.records.size();
    const size_t first_value = table.values.size();
    table.records.resize(first_record + rows.size());
    table.values.resize(first_value + rows.size() * metric_count);
    NcuRecord* const batch = table.records.data() + first_record;
    double* const first_number = table.values.data() + first_value;
    NcuNumbers* const reading = &numbers;

    size_t metric = 0;
    auto facts = columns.fact_stretches.begin();
    for (size_t column = 0; column < columns.width; ++column) {
      while (facts != columns.fact_stretches.end() && facts->first < column) ++facts;
      if (facts != columns.fact_stretches.end() && facts->first == column &&
          facts->second < columns.width) {
        take_facts(columns, end, *facts, splitter, batch);
        column = facts->second - 1;
        continue;
      }
      const bool last = column + 1 == columns.width;
      const uint8_t field = columns.field_of_column[column];
      const bool is_metric = metric < metric_count && columns.metric_column[metric] == column;
      const double scale = is_metric ? columns.metric_scale[metric] : 1;
      double* const own = first_number + metric;
      if (last || field != NcuColumns::kNoField) {
        for (size_t row = 0; row < rows_.size(); ++row) {
          const std::optional<Cell> cell = take_cell(rows_[row], end, last);
          if (!cell) continue;
          const std::string_view content = cell->undone(splitter);
          if (field != NcuColumns::kNoField) batch[row].fields[field] = content;
          if (is_metric) own[row * metric_count] = ncu_value(content, scale, *reading);
        }
      } else if (is_metric) {
        take_column(end, [=](size_t row, std::string_view cell) __attribute__((always_inline)) {
          own[row * metric_count] = ncu_value(cell, scale, *reading);
        });
      } else {
        take_column(end, [](size_t, std::string_view) {});
      }
      if (is_metric) ++metric;
    }
    return settle(text, numbers, splitter, table);
  }

 private:
  struct Row {
    const char* begin = nullptr;
    const char* cell = nullptr;  // the next cell's content; nullptr if the row is unusual
  };
  // Passes each row's next cell to `use(row number, cell)` and advances to the next one. Rows with
  // anything unusual are left to `settle`. Always inline, as is a `use` that captures by value, so
  // that constants stay in registers.
  template <class Use>
  [[gnu::always_inline]] void take_column(const char* end, Use use) {
    Row* const rows = rows_.data();
    const size_t count = rows_.size();
    for (size_t i = 0; i < count; ++i) {
      const char* const cell = rows[i].cell;
      if (cell == nullptr) continue;
      const char* const quote = find_quote(cell, end);
      if (quote >= end || !another_cell_follows(quote)) {
        rows[i].cell = nullptr;
        continue;
      }
      rows[i].cell = quote + 3;
      // The processor cannot prefetch this many streams by itself.
      __builtin_prefetch(quote + kAhead);
      use(i, std::string_view(cell, static_cast<size_t>(quote - cell)));
    }
  }

  struct Cell {
    std::string_view content;
    bool doubled = false;  // contains doubled quotes

    [[nodiscard]] std::string_view undone(NcuSplitter& splitter) const {
      return doubled ? undo_doubled_quotes(content, splitter.undone()) : content;
    }
  };
  // The same for one row, whose cell may contain quotes or be the last.
  static std::optional<Cell> take_cell(Row& row, const char* end, bool last) {
    const char* const cell = std::exchange(row.cell, nullptr);
    if (cell == nullptr) return std::nullopt;
    const NcuQuotedCell quoted = ncu_quoted_cell(cell - 1, end);
    if (quoted.end == nullptr) return std::nullopt;
    const char* const behind = quoted.end + 1;
    const bool line_ends = behind == end || *behind == '\n' || *behind == '\r';
    if (last ? !line_ends : behind + 1 >= end || !another_cell_follows(quoted.end)) {
      return std::nullopt;
    }
    row.cell = behind + 2;
    return Cell{std::string_view(cell, static_cast<size_t>(quoted.end - cell)), quoted.doubled};
  }

  // In most rows these columns equal those of the previous row: one comparison instead of hundreds
  // of cells.
  void take_facts(const NcuColumns& columns, const char* end, std::pair<size_t, size_t> stretch,
                  NcuSplitter& splitter, NcuRecord* batch) {
    const char* known = nullptr;
    size_t known_length = 0;
    size_t known_row = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const char* const begin = rows_[i].cell;
      if (begin == nullptr) continue;
      const bool same = known != nullptr && static_cast<size_t>(end - begin) > known_length &&
                        std::memcmp(begin, known, known_length) == 0;
      for (size_t column = stretch.first; column < stretch.second; ++column) {
        const uint8_t field = columns.field_of_column[column];
        if (same) {
          if (field != NcuColumns::kNoField)
            batch[i].fields[field] = batch[known_row].fields[field];
          continue;
        }
        const std::optional<Cell> cell = take_cell(rows_[i], end, false);
        if (!cell) break;
        if (field != NcuColumns::kNoField) batch[i].fields[field] = cell->undone(splitter);
      }
      if (same) {
        rows_[i].cell = begin + known_length;
      } else if (rows_[i].cell != nullptr) {
        known = begin;
        known_length = static_cast<size_t>(rows_[i].cell - begin);
        known_row = i;
      }
    }
  }

  // Reads the unusual rows one by one and closes the gaps left by those that are not records.
  uint64_t settle(std::string_view text, NcuNumbers& numbers, NcuSplitter& splitter,
                  NcuTable& table) {
    const size_t width = table.columns->metric_column.size();
    const size_t end = table.records.size();
    const auto row_of = [&](size_t record) {
      return table.values.begin() + static_cast<ptrdiff_t>(record * width);
    };
    size_t kept = end - rows_.size();
    for (size_t i = 0; i < rows_.size(); ++i) {
      size_t record = end - rows_.size() + i;
      if (rows_[i].cell == nullptr || table.records[record]["Kernel Name"].empty()) {
        // A row that ends in a comma at the end of the text is cut off: raw pages quote every cell.
        const std::string_view rest =
            text.substr(static_cast<size_t>(rows_[i].begin - text.data()));
        const size_t length = splitter.split(rest);
        if (length == 0 || rest[length - 1] == ',' ||
            !add_ncu_record(splitter.cells(), numbers, table)) {
          continue;
        }
        record = table.records.size() - 1;
      }
      if (kept != record) {
        table.records[kept] = table.records[record];
        std::copy_n(row_of(record), width, row_of(kept));
      }
      ++kept;
    }
    table.records.resize(kept);
    table.values.resize(kept * width);
    return end - kept;
  }

  std::vector<Row> rows_;
};

}  // namespace llmprof::readers
