#pragma once

#include <string>
#include <string_view>

#include "query/engine/catalog.h"

namespace llmprof::query {

// Whether a text has this word, in any case.
bool mentions(std::string_view sql, std::string_view word);

// SQLite's message about a statement, with the table or column that was probably meant.
std::string with_suggestion(std::string_view message, std::string_view sql, const Catalog& catalog);

}  // namespace llmprof::query
