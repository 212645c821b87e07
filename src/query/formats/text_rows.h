#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "query/engine/answer.h"

namespace llmprof::query {

using WriteText = std::function<void(std::string_view)>;

// Writes answers as text, row by row.
class AnswerWriter : public AnswerSink {
 public:
  // After the rows.
  virtual void end(const Answer& answer) = 0;
};

// One JSON object: columns (name, type, unit, meaning), rows as lists in the order of the columns,
// and what is known of the answer: row_count, total_rows, truncated, notes, elapsed_ms.
std::unique_ptr<AnswerWriter> json_writer(WriteText write);
// One JSON object per row. Columns of the same name get a number: "ms", "ms_2".
std::unique_ptr<AnswerWriter> ndjson_writer(WriteText write);
// RFC 4180 with lines that end in a line feed, the first one of names. Null is an empty field, an
// empty text is "".
std::unique_ptr<AnswerWriter> csv_writer(WriteText write);

// JSON: null, a number or a text. Infinities and NaN are null.
void append_json(const Value& value, std::string& text);
void append_json_text(std::string_view value, std::string& text);

// The names of an answer's columns, made different by numbers.
std::vector<std::string> distinct_names(const std::vector<AnswerColumn>& columns);

}  // namespace llmprof::query
