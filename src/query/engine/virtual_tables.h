#pragma once

#include <sqlite3.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "query/engine/catalog.h"

namespace llmprof::query {

// The function kernels_of(step): the kernels of one step.
inline constexpr std::string_view kKernelsOf = "kernels_of";

// What the tables of one connection share.
struct TableContext {
  Catalog& catalog;
  std::set<const Table*> used = {};  // since the owner cleared it
  std::optional<Error> error = {};   // why a table could not be used: its kind
};

// Makes a table of SQLite for each table of the catalog. They refer to `context`. An error of
// SQLite is internal.
Result<void> create_tables(sqlite3* database, TableContext& context);

}  // namespace llmprof::query
