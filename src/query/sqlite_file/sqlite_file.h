#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "query/copies/table_copies.h"

namespace llmprof::query {

// Writes all tables into a new SQLite database at `path`, which must not exist.
Result<CopiedTables> write_sqlite_file(Database& database, const std::filesystem::path& path,
                                       Progress& progress);

}  // namespace llmprof::query
