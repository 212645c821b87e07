#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "query/engine/answer.h"
#include "query/engine/functions.h"
#include "query/model/table.h"

namespace llmprof::query {

// SQL over analyzed runs. Statements only read, and stay within limits. What has been read and
// prepared for one statement is kept for the next. For one thread at a time.
class Database {
 public:
  // At least one run; their names must differ.
  static Result<std::unique_ptr<Database>> open(std::vector<Run> runs);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Answers one statement. Rows go to `sink` as they are found, up to the limits; then the others
  // are counted, while there is time. Errors: of kind usage for a statement that cannot be
  // answered, input for what the runs lack, tool for a limit that was reached before the first row.
  Result<Answer> ask(const Question& question, AnswerSink& sink);

  [[nodiscard]] const std::vector<Table>& tables() const;
  // Why a table has no rows in any of the runs, and how to record them; none if it has.
  std::optional<std::string> lack_of(std::string_view table);

  // The rows of a table, for copies of it. Column 0 is the run.
  Result<class TableRows*> rows_of(const Table& table);

 private:
  class Connection;
  explicit Database(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace llmprof::query
