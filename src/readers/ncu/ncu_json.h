#pragma once

#include <filesystem>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// The rows of ncu's CSV as JSON objects, with its column names as keys and its cells as strings,
// numbers or null: an array of objects, or one object per line. The raw page's row of units is the
// object with a blank ID.
extern const Reader kNcuJsonReader;

}  // namespace llmprof::readers
