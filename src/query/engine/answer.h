#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "query/engine/limits.h"
#include "query/model/value.h"

namespace llmprof::query {

// A column of an answer. The last three are known if it is a table's column, unchanged.
struct AnswerColumn {
  std::string name;
  std::string type;
  std::string unit;
  std::string meaning;
};

// Takes an answer's rows as they are found. Texts are valid during the call only.
class AnswerSink {
 public:
  AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;
  virtual ~AnswerSink() = default;

  virtual void begin(const std::vector<AnswerColumn>& columns) = 0;
  virtual void row(std::span<const Value> values) = 0;
};

// What is known of an answer after its rows.
struct Answer {
  enum class Cut : uint8_t { none, rows, bytes, time };
  uint64_t rows = 0;               // in the answer
  Cut cut = Cut::none;             // the limit that left rows out
  uint64_t total = 0;              // rows that the statement found
  bool total_is_complete = true;   // false: at least so many
  std::vector<std::string> notes;  // what some of the runs lack
  std::chrono::nanoseconds time{0};
};

// "10,000 of 53,233 rows (limit of rows); ...": what a cut answer says. Empty for a complete one.
std::string cut_note(const Answer& answer);

// Values for `:name` in a statement.
using Parameter = std::variant<std::string, int64_t, double>;
using Parameters = std::map<std::string, Parameter>;

struct Question {
  std::string_view sql;  // one statement
  Parameters parameters = {};
  Limits limits = {};
};

}  // namespace llmprof::query
