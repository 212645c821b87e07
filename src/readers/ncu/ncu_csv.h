#pragma once

#include <filesystem>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// Nsight Compute's CSV output, raw or details page, straight from a run (with the program's output
// and ncu's messages around it) or exported from a report; several such outputs in one file, too.
// Recognizes failed runs and ncu's text page as well, to refuse them with the remedy.
extern const Reader kNcuCsvReader;

}  // namespace llmprof::readers
