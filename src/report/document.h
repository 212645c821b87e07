#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace llmprof::profile {}
namespace llmprof::report {

// Reports describe profiles, whose types need no prefix here.
using namespace profile;

// The content of a report, independent of its format. Texts are plain; writers escape them.
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

// Files next to the report, each with a description.
struct LinkList {
  struct Link {
    std::string file;
    std::string about;
  };
  std::vector<Link> links;
};

// A number from profile.json. `of` determines its digits and unit, in format/figures.cpp only;
// writers call text_of for its text.
struct Figure {
  enum class Of : uint8_t {
    stage_time,    // ms per stage, step, gap or request, of all kernels together, or saved there
    token_time,    // ms per token, per step or per layer
    kernel_time,   // ms of one kernel or operator: its total, its mean per launch or call
    share,         // a fraction, shown in percent
    ratio,         // one quantity over another of the same unit, not in percent
    count,         // or a mean of counts
    rate,          // tokens per second
    request_rate,  // requests per second
    intensity,     // FLOP per byte
    bytes,
    flops,
    bytes_per_second,
    flops_per_second,
    clock,         // Hz
    energy,        // J
    power,         // W
    temperature,   // degrees Celsius
    change,        // a relative difference, in percent with its sign
    time_change,   // a difference of two times in ms, with its sign
    bytes_change,  // a difference in bytes, with its sign
  };
  Of of = Of::count;
  std::optional<double> value;      // none if unknown
  std::optional<double> deviation;  // standard deviation if the value is a mean
};

using Cell = std::variant<std::string, Figure>;

struct Column {
  enum class Kind { text, number, code };  // numbers are right-aligned, code is shown as typed
  std::string title;
  Kind kind = Kind::text;
  int priority = 0;  // if there is not enough room, columns with the lowest are dropped first
};

using Row = std::vector<Cell>;

// A row of texts of any kind and figures.
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

  // Adds a row of texts and figures.
  template <class... Values>
  void add(Values&&... values) {
    rows.push_back(cells(std::forward<Values>(values)...));
  }
  // Drops the column with that title unless `shown`.
  Table& show_if(bool shown, std::string_view title);
};

// A table without rows. One text has all titles, "stage | #wall (ms) | `run@-1": `#` marks numbers,
// a backtick code, and a priority other than 0 follows `@`.
Table table_of(std::string_view titles);

// With a row from `row_of` for each item, at most `most`. Empty rows are skipped.
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

// A picture next to the report, with a description. Terminals skip it.
struct Image {
  std::string file;
  std::string description;
};

using Block = std::variant<Heading, Paragraph, Callout, BulletList, LinkList, Table, Image>;

struct Document {
  std::vector<Block> blocks;

  // Skips empty blocks; each row of a table gets as many cells as there are columns.
  template <class B>
  void add(B block) {
    if constexpr (requires { block.text.empty(); }) {
      if (block.text.empty()) return;
    } else if constexpr (requires { block.items.empty(); }) {
      if (block.items.empty()) return;
    } else if constexpr (requires { block.rows; }) {
      for (Row& row : block.rows) row.resize(block.columns.size());
    }
    blocks.emplace_back(std::move(block));
  }

  void heading(int level, std::string text) { add(Heading{level, std::move(text)}); }
  void note(std::string text) { add(Callout{Callout::Kind::note, std::move(text)}); }
  void warning(std::string text) { add(Callout{Callout::Kind::warning, std::move(text)}); }
  void paragraph(std::string text) { add(Paragraph{std::move(text)}); }
  template <class First, class... Rest>
  void paragraph(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
    paragraph(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  // Skips a table without rows, together with `before`.
  void add_filled(Table table, std::string before = {});
  // Adds the heading of a section. If its content is `missing`, says why and returns false.
  bool begin(int level, std::string title, bool missing, std::string why);
};

}  // namespace llmprof::report
