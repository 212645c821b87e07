#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "job/packed/number_stream.h"
#include "job/rank_part.h"

// The file that `llmprof analyze --partial` writes for one rank and `llmprof merge` reads:
//
//   "LLMPPART", version (4 bytes), 0 (4 bytes), size of the content (8 bytes); little-endian
//   content, as one zlib stream, which is checked by its own checksum:
//     who the rank is (JSON), its profile (as profile.json, without steps), its steps, its
//     collectives, the times of its steps, column by column
//
// It is exact: what is read is what was written, to the last digit.
namespace llmprof::job {

inline constexpr std::string_view kPartialExtension = ".llmpart";

// "rank3.llmpart"
std::string partial_name(uint64_t rank);

std::string to_partial(const RankPart& part);
Result<RankPart> from_partial(std::string_view bytes);

void write_collectives(analysis::Collectives from, NumberWriter& out);
// For a rank with `steps` steps; the reader marks invalid collectives as damage.
analysis::Collectives read_collectives(NumberReader& in, size_t steps);

// Checks the first bytes.
bool is_partial(std::string_view head);

// Writes the complete file or none.
Result<void> write_partial(const std::filesystem::path& file, const RankPart& part, bool replace);
Result<RankPart> read_partial(const std::filesystem::path& file);

}  // namespace llmprof::job
