#pragma once

#include <vector>

#include "query/described/described_table.h"

namespace llmprof::query {

// The tables of what profile.json holds, by theme.
std::vector<DescribedTable> run_tables();
std::vector<DescribedTable> stage_tables();
std::vector<DescribedTable> kernel_tables();
std::vector<DescribedTable> request_tables();
std::vector<DescribedTable> memory_tables();
std::vector<DescribedTable> job_tables();

// Requests' tokens, one row each: two lists of profile.json side by side.
Table tokens_table();

// All of them, and a table for each list of profile.json that none of them shows.
std::vector<Table> profile_tables();

// Why there are no stages, or what belongs to them.
std::optional<std::string> no_stages(const profile::Profile& profile);

}  // namespace llmprof::query
