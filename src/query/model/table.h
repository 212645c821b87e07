#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "query/model/column.h"
#include "query/model/run.h"

namespace llmprof::query {

// The rows of a table that come from one source: a run, or one rank of it.
struct Part {
  size_t rows = 0;
  std::vector<Values> columns;  // one per column of the table
};

// A table: what it is, and how to get its rows.
struct Table {
  std::string name;
  std::string meaning;
  std::vector<ColumnInfo> columns;
  // One of these. A part refers to its source, which must outlive it.
  std::function<Part(const profile::Profile&)> of_profile;
  std::function<Part(const profile::Profile&, const Events&)> of_events;
  // Why a run has no rows of this kind, and how to record them: a sentence or two. None if it has,
  // or if there is nothing to record: a capture without findings has an empty table of findings.
  // `rows` are those of all its parts.
  std::function<std::optional<std::string>(const profile::Profile&, size_t rows)> lack;

  [[nodiscard]] bool needs_events() const { return of_events != nullptr; }
};

}  // namespace llmprof::query
