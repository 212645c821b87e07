#pragma once

#include <string>

#include "trace/trace.h"

namespace llmprof::report {

// "rank3-4711.llmtrace (llmprof log, llmprof collector 0.1.0, rank 3)"
std::string capture_words(const trace::Capture& capture);

}  // namespace llmprof::report
