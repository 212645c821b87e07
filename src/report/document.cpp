#include "report/document.h"

#include <charconv>

namespace llmprof::report {
namespace {

Column column_of(std::string_view title) {
  Column column;
  if (title.starts_with('#')) column.kind = Column::Kind::number;
  if (title.starts_with('`')) column.kind = Column::Kind::code;
  if (column.kind != Column::Kind::text) title.remove_prefix(1);
  if (const size_t mark = title.find('@'); mark != std::string_view::npos) {
    std::from_chars(title.data() + mark + 1, title.data() + title.size(), column.priority);
    title = title.substr(0, mark);
  }
  column.title = title;
  return column;
}

}  // namespace

Table& Table::show_if(bool shown, std::string_view title) {
  if (shown) return *this;
  const auto column =
      std::ranges::find_if(columns, [&](const Column& each) { return each.title == title; });
  const auto index = column - columns.begin();
  columns.erase(column);
  for (Row& row : rows) row.erase(row.begin() + index);
  return *this;
}

Table table_of(std::string_view titles) {
  constexpr std::string_view kBetween = " | ";
  Table table;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = titles.find(kBetween);
    table.columns.push_back(column_of(titles.substr(0, end)));
    titles.remove_prefix(end == std::string_view::npos ? 0 : end + kBetween.size());
  }
  return table;
}

void Document::add_filled(Table table, std::string before) {
  if (table.rows.empty()) return;
  add(Paragraph{std::move(before)});
  add(std::move(table));
}

bool Document::begin(int level, std::string title, bool missing, std::string why) {
  heading(level, std::move(title));
  if (missing) paragraph(std::move(why));
  return !missing;
}

}  // namespace llmprof::report
