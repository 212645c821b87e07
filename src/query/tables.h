#pragma once

#include <vector>

#include "query/model/table.h"

namespace llmprof::query {

// All tables, in the order of the schema.
std::vector<Table> all_tables();

}  // namespace llmprof::query
