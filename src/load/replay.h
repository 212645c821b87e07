#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "load/schedule.h"

namespace llmprof::load {

// The requests of a file to replay, plain or gzip, by content: Azure's CSV
// (TIMESTAMP,ContextTokens,GeneratedTokens), Mooncake's JSON lines (timestamp in ms, input_length,
// output_length, hash_ids), or a record of our own (requests.json). Rows that are malformed are
// skipped and counted in `skipped`; a file without a usable row is an error.
struct Replay {
  std::vector<PlannedRequest> requests;
  size_t skipped = 0;
  std::string first_skipped;  // "line 7: ..."
};
Result<Replay> read_replay(const std::filesystem::path& path);
Result<Replay> parse_replay(std::string_view content);

}  // namespace llmprof::load
