#include "cli/query_output.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "cli/output.h"
#include "report/document.h"
#include "report/writers/writers.h"

namespace llmprof::cli {
namespace {

using query::Answer;
using query::AnswerColumn;
using query::Value;

// At most six digits after the point: nanoseconds of a time in ms. JSON and CSV have all.
std::string short_number(double number) {
  constexpr double kLargestFixed = 1e15;
  if (!std::isfinite(number) || std::abs(number) >= kLargestFixed) {
    return fmt::format("{:.6g}", number);
  }
  std::string text = fmt::format("{:.6f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string cell_text(const Value& value) {
  if (value.kind == Value::Kind::null) return "-";
  if (value.kind == Value::Kind::integer) return fmt::format("{}", value.integer);
  if (value.kind == Value::Kind::real) return short_number(value.real);
  return to_printable(value.text);
}

// A whole answer as one table.
class TableWriter final : public query::AnswerWriter {
 public:
  TableWriter(bool markdown, const report::TerminalStyle& style)
      : markdown_(markdown), style_(style) {}

  void begin(const std::vector<AnswerColumn>& columns) override {
    table_ = {};
    for (const AnswerColumn& column : columns) {
      table_.columns.push_back({column.name, report::Column::Kind::number, 0});
    }
    is_number_.assign(columns.size(), true);
  }
  void row(std::span<const Value> values) override {
    report::Row& row = table_.rows.emplace_back();
    for (size_t i = 0; i < values.size(); ++i) {
      is_number_[i] = is_number_[i] && values[i].kind != Value::Kind::text;
      row.emplace_back(cell_text(values[i]));
    }
  }
  void end(const Answer& answer) override {
    for (size_t i = 0; i < is_number_.size(); ++i) {
      if (!is_number_[i]) table_.columns[i].kind = report::Column::Kind::code;
    }
    report::Document document;
    const bool any = !table_.rows.empty();
    document.add(std::move(table_));
    if (!any) document.paragraph("no rows");
    if (const std::string note = cut_note(answer); !note.empty()) document.paragraph(note);
    for (const std::string& note : answer.notes) document.paragraph(note);
    print_rendered(markdown_ ? report::to_markdown(document)
                             : report::to_terminal(document, style_) + "\n");
  }

 private:
  bool markdown_;
  report::TerminalStyle style_;
  report::Table table_;
  std::vector<bool> is_number_;
};

// Formats without a place for notes.
class NotedWriter final : public query::AnswerWriter {
 public:
  explicit NotedWriter(std::unique_ptr<query::AnswerWriter> writer) : writer_(std::move(writer)) {}

  void begin(const std::vector<AnswerColumn>& columns) override { writer_->begin(columns); }
  void row(std::span<const Value> values) override { writer_->row(values); }
  void end(const Answer& answer) override {
    writer_->end(answer);
    if (const std::string note = cut_note(answer); !note.empty()) print_message(note);
    for (const std::string& note : answer.notes) print_message(note);
  }

 private:
  std::unique_ptr<query::AnswerWriter> writer_;
};

}  // namespace

std::unique_ptr<query::AnswerWriter> answer_printer(std::string_view format,
                                                    const report::TerminalStyle& style) {
  if (format == "json") return query::json_writer(print_json);
  if (format == "ndjson") {
    return std::make_unique<NotedWriter>(query::ndjson_writer(print_json));
  }
  if (format == "csv") return std::make_unique<NotedWriter>(query::csv_writer(print_text));
  return std::make_unique<TableWriter>(format == "markdown", style);
}

}  // namespace llmprof::cli
