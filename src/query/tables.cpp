#include <algorithm>
#include <iterator>

#include "query/described/profile_tables.h"
#include "query/events/event_tables.h"
#include "query/tables.h"

namespace llmprof::query {

std::vector<Table> all_tables() {
  std::vector<Table> all = profile_tables();
  for (std::vector<Table> tables : {gpu_tables(), host_tables()}) {
    std::ranges::move(tables, std::back_inserter(all));
  }
  return all;
}

}  // namespace llmprof::query
