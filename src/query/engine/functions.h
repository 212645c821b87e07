#pragma once

#include <sqlite3.h>

#include <span>
#include <string_view>

#include "base/error.h"
#include "query/engine/catalog.h"

namespace llmprof::query {

// A function that llmprof adds to SQL.
struct FunctionInfo {
  std::string_view name;
  std::string_view call;     // "bucket(value, width)"
  std::string_view meaning;  // completes "This is ..."
};
std::span<const FunctionInfo> own_functions();
bool is_own_function(std::string_view name);

// They refer to the catalog.
Result<void> create_functions(sqlite3* database, Catalog& catalog);

}  // namespace llmprof::query
