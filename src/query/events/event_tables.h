#pragma once

#include <vector>

#include "query/model/table.h"

namespace llmprof::query {

// Tables straight over the columns of a trace.
std::vector<Table> gpu_tables();
std::vector<Table> host_tables();

}  // namespace llmprof::query
