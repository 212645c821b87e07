#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "query/engine/table_rows.h"
#include "query/model/table.h"

namespace llmprof::query {

// The tables of several runs. Rows are prepared when a statement first needs them, single events
// are read then. Functions that do not return a Result throw their errors (base/needed.h).
class Catalog {
 public:
  Catalog(std::vector<Table> tables, std::vector<Run> runs);

  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  // Null if there is none; names are not case-sensitive, as in SQL.
  [[nodiscard]] const Table* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

  // Fails if every run lacks them: the error says how to record them.
  TableRows& rows(const Table& table);
  // What single runs lack of a table whose rows are loaded, while others have it.
  [[nodiscard]] const std::vector<std::string>& notes(const Table& table);

  // The short name of a kernel of these runs; none for other texts. Only kernels of loaded events,
  // and those of profiles.
  [[nodiscard]] std::optional<std::string_view> short_name(std::string_view kernel);

 private:
  struct Loaded {
    std::unique_ptr<TableRows> rows;
    std::vector<std::string> notes;
  };
  Loaded load(const Table& table);
  const std::vector<Events>& events_of(size_t run);

  std::vector<Table> tables_;
  std::vector<Run> runs_;
  // By run; an error is kept, so that captures are not read in vain again.
  std::vector<std::optional<Result<std::vector<Events>>>> events_;
  std::map<const Table*, Loaded> loaded_;
  std::map<std::string_view, std::string_view> short_names_;
};

}  // namespace llmprof::query
