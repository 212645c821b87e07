#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace llmprof::report {

// What a report says, before anyone decides how it looks. Texts are plain; a writer escapes them.
struct Heading {
  int level = 1;
  std::string text;
};

struct Paragraph {
  std::string text;
};

// A statement that the reader must not miss.
struct Callout {
  enum class Kind { note, warning };
  Kind kind = Kind::note;
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

// Files beside the report, each with what it holds.
struct LinkList {
  struct Link {
    std::string file;
    std::string about;
  };
  std::vector<Link> links;
};

// A number of profile.json. What it is of decides its digits and its unit, in format/figures.cpp
// alone: a writer asks text_of for its text.
struct Figure {
  enum class Of : uint8_t {
    stage_time,   // ms of stages, steps, gaps, requests, all kernels together, and of what could be
                  // saved there
    token_time,   // ms per token, per step or per layer
    kernel_time,  // ms of one kernel or operator: its total, its mean per launch or call
    share,        // a fraction, shown in percent
    ratio,        // one quantity over another of the same unit, not in percent
    count,        // a mean of counts included
    rate,         // tokens per second
    intensity,    // FLOP per byte
    bytes,
    flops,
    bytes_per_second,
    flops_per_second,
    clock,        // Hz
    energy,       // J
    power,        // W
    temperature,  // degrees Celsius
    change,       // a difference over what it is of, in percent with its sign
    time_change,  // a difference of two times in ms, with its sign
  };
  Of of = Of::count;
  std::optional<double> value;      // none where it is not known
  std::optional<double> deviation;  // of the values that this is the mean of
};

using Cell = std::variant<std::string, Figure>;

struct Column {
  enum class Kind { text, number, code };  // numbers are right-aligned, code is shown as typed
  std::string title;
  Kind kind = Kind::text;
  int priority = 0;  // where there is no room for all, columns with the lowest are left out first
};

using Row = std::vector<Cell>;

// Of texts of any kind and figures.
template <class... Values>
Row cells(Values&&... values) {
  const auto cell = [](auto&& value) -> Cell {
    if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
      return std::string(std::string_view(value));
    } else {
      return std::forward<decltype(value)>(value);
    }
  };
  return {cell(std::forward<Values>(values))...};
}

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows = {};

  // Leaves the column of that title out where it is not `shown`.
  Table& show_if(bool shown, std::string_view title);
};

// A table without rows. Titles stand in one text, "stage | #wall (ms) | `run@-1": `#` marks
// numbers, a backtick code, and a priority other than 0 follows `@`.
Table table_of(std::string_view titles);

// With a row for each item, as `row_of` gives it, at most as many as said. An empty one is left
// out.
template <class Items, class RowOf>
Table table_of(std::string_view titles, const Items& items, const RowOf& row_of,
               size_t most = SIZE_MAX) {
  Table table = table_of(titles);
  for (const auto& item : items) {
    if (table.rows.size() == most) break;
    if (Row row = row_of(item); !row.empty()) table.rows.push_back(std::move(row));
  }
  return table;
}

// A picture beside the report, with what it shows in words. A terminal leaves it out.
struct Image {
  std::string file;
  std::string description;
};

using Block = std::variant<Heading, Paragraph, Callout, BulletList, LinkList, Table, Image>;

struct Document {
  std::vector<Block> blocks;

  // What has nothing to say is left out.
  template <class B>
  void add(B block) {
    if constexpr (requires { block.text.empty(); }) {
      if (block.text.empty()) return;
    } else if constexpr (requires { block.items.empty(); }) {
      if (block.items.empty()) return;
    }
    blocks.emplace_back(std::move(block));
  }

  // A table without rows is left out, and `before` with it.
  void add_filled(Table table, std::string before = {});
  // The heading of a section. Where something is `missing`, that is all that it says: false.
  bool begin(int level, std::string heading, std::string missing = {});
};

}  // namespace llmprof::report
