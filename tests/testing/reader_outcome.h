#pragma once

#include <filesystem>
#include <string>

#include "readers/shared/reader.h"

namespace llmprof::testing {

// Reads any file and judges the outcome. Returns an empty text if it is acceptable (an error with a
// message, or rows, or a diagnostic that says why there are none), otherwise a description of the
// problem.
std::string judge_reading(const readers::Reader& reader, const std::filesystem::path& path);

}  // namespace llmprof::testing
