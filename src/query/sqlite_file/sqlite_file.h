#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "query/database.h"

namespace llmprof::query {

// What a copy holds, and what it does not.
struct SqliteFile {
  struct Lack {
    std::string table;
    std::string why;
  };
  uint64_t tables = 0;
  uint64_t rows = 0;
  std::vector<Lack> lacks;
};

// Writes all tables that have rows or may be empty into a new SQLite database at `path`, which must
// not exist. Names, types and values are those of queries, so that the same SQL gives the same
// rows; the functions are llmprof's own. Tables `llmprof_columns` and `llmprof_lacks` describe the
// copy.
Result<SqliteFile> write_sqlite_file(Database& database, const std::filesystem::path& path,
                                     Progress& progress);

}  // namespace llmprof::query
