#include "report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/terminal/text_layout.h"

namespace llmprof::report {
namespace {

constexpr size_t kGap = 2;            // blanks before a column
constexpr size_t kShortestName = 28;  // of code: shorter names no longer distinguish kernels
constexpr size_t kNarrowestText = 24;

using Cells = std::vector<std::string>;

std::string padded(const std::string& text, size_t to, bool right) {
  const std::string blanks(to - std::min(to, display_width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

ColumnNeed need_of(const Column& column, const std::vector<Cells>& rows, size_t index) {
  ColumnNeed need;
  need.priority = column.priority;
  size_t longest_word = 0;
  for (const Cells& row : rows) {
    need.natural = std::max(need.natural, display_width(row[index]));
    longest_word = std::max(longest_word, longest_piece(row[index]));
  }
  switch (column.kind) {
    case Column::Kind::number:
      need.smallest = need.natural;
      break;
    case Column::Kind::code:
      need.smallest = std::max(kShortestName, display_width(column.title));
      break;
    case Column::Kind::text:
      need.smallest = std::max(kNarrowestText, longest_word);
      break;
  }
  need.smallest = std::min(need.smallest, need.natural);
  return need;
}

// A cell's lines in a column of that width.
Cells cell_lines(const std::string& cell, Column::Kind kind, size_t width) {
  if (kind == Column::Kind::text) return wrapped(cell, width);
  return {shortened_in_the_middle(cell, width)};
}

// Different names stay different in the table.
void shorten_names(const Table& table, const FittedTable& fitted, std::vector<Cells>& rows) {
  for (const FittedColumn& column : fitted.shown) {
    if (table.columns[column.index].kind != Column::Kind::code) continue;
    Cells names;
    for (const Cells& row : rows) names.push_back(row[column.index]);
    names = shortened_distinctly(names, column.width);
    for (size_t i = 0; i < rows.size(); ++i) rows[i][column.index] = std::move(names[i]);
  }
}

class TerminalWriter {
 public:
  explicit TerminalWriter(const TerminalStyle& style) : style_(style) {}

  void operator()(const Heading& heading) {
    for (const std::string& line : wrapped(to_printable(heading.text), style_.width)) {
      out_ += tinted(line, Tint::heading, style_) + '\n';
    }
    out_ += '\n';
  }
  void operator()(const Paragraph& paragraph) {
    out_ += wrapped_behind("", "", to_printable(paragraph.text), style_.width) + "\n\n";
  }
  void operator()(const Callout& callout) {
    const bool warning = callout.kind == Callout::Kind::warning;
    const std::string_view label = warning ? "WARNING: " : "note: ";
    const std::string text = wrapped_behind(label, "  ", to_printable(callout.text), style_.width);
    out_ +=
        tinted(label.substr(0, label.size() - 1), warning ? Tint::warning : Tint::heading, style_) +
        text.substr(label.size() - 1) + "\n\n";
  }
  void operator()(const BulletList& list) {
    for (const std::string& item : list.items) add_item(item);
    out_ += '\n';
  }
  void operator()(const LinkList& list) {
    for (const auto& [file, about] : list.links) add_item(fmt::format("{}: {}", file, about));
    out_ += '\n';
  }
  void operator()(const Image& /*image*/) {}
  void operator()(const Table& table) {
    std::vector<Cells> rows = cells_of(table);
    std::vector<ColumnNeed> needs;
    needs.reserve(table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      needs.push_back(need_of(table.columns[i], rows, i));
    }
    const FittedTable fitted = fit_columns(needs, kGap, style_.width);
    shorten_names(table, fitted, rows);
    for (size_t i = 0; i < rows.size(); ++i) add_row(table, fitted, rows[i], i == 0);
    out_ += '\n';
    if (fitted.left_out.empty()) return;
    const std::string titles =
        joined(fitted.left_out, ", ", [&](size_t index) { return table.columns[index].title; });
    const std::string note =
        wrapped_behind("  ", "  ", to_printable("A wider terminal shows: " + titles), style_.width);
    out_ += tinted(note, Tint::quiet, style_) + "\n\n";
  }

  std::string take() {
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void add_item(std::string_view text) {
    out_ += wrapped_behind("  - ", "    ", to_printable(text), style_.width) + '\n';
  }

  // The titles first, then the rows.
  static std::vector<Cells> cells_of(const Table& table) {
    std::vector<Cells> rows(1);
    for (const Column& column : table.columns) rows[0].push_back(to_printable(column.title));
    for (const auto& row : table.rows) {
      Cells& cells = rows.emplace_back();
      for (const Cell& cell : row) cells.push_back(to_printable(text_of(cell)));
    }
    return rows;
  }

  void add_row(const Table& table, const FittedTable& fitted, const Cells& row, bool titles) {
    std::vector<Cells> cells;
    size_t height = 1;
    for (const FittedColumn& column : fitted.shown) {
      cells.push_back(
          cell_lines(row[column.index], table.columns[column.index].kind, column.width));
      height = std::max(height, cells.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      std::string text;
      for (size_t i = 0; i < fitted.shown.size(); ++i) {
        const FittedColumn& column = fitted.shown[i];
        const bool right = table.columns[column.index].kind == Column::Kind::number;
        const std::string cell = line < cells[i].size() ? cells[i][line] : "";
        text += std::string(kGap, ' ') + padded(cell, column.width, right);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out_ += (titles ? tinted(text, Tint::heading, style_) : text) + '\n';
    }
  }

  const TerminalStyle& style_;
  std::string out_;
};

}  // namespace

std::string to_terminal(const Document& document, const TerminalStyle& style) {
  TerminalWriter writer(style);
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.take();
}

}  // namespace llmprof::report
