#pragma once

#include <filesystem>
#include <string>

#include "readers/shared/reader.h"

namespace llmprof::testing {

// Reads a file, whatever is in it, and judges the outcome: empty when it is acceptable (an error
// with a message, or rows, or a diagnostic that says why there are none), else what is wrong with
// it.
std::string judge_reading(const readers::Reader& reader, const std::filesystem::path& path);

}  // namespace llmprof::testing
