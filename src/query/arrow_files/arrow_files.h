#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "query/copies/table_copies.h"

namespace llmprof::query {

// Writes each table into its own file of Arrow's IPC format, FOLDER/kernels.arrow, because a file
// has one schema. The folder must exist and be empty. Columns have their unit and meaning as
// metadata.
Result<CopiedTables> write_arrow_files(Database& database, const std::filesystem::path& folder,
                                       Progress& progress);

}  // namespace llmprof::query
