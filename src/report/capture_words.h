#pragma once

#include <string>

#include "trace/trace.h"

namespace llmprof {

// "rank3-4711.llmtrace (llmprof log, llmprof collector 0.1.0, rank 3)"
std::string capture_words(const Capture& capture);

}  // namespace llmprof
