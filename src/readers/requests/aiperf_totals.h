#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace llmprof::readers {

// The aggregates that AIPerf writes beside its file of requests: profile_export_aiperf.json beside
// profile_export.jsonl. Names are those of the file, such as "time_to_first_token.p99". Empty if
// there is no such file, or it is not valid.
std::vector<std::pair<std::string, double>> read_aiperf_totals(
    const std::filesystem::path& requests);

}  // namespace llmprof::readers
