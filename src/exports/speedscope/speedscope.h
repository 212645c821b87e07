#pragma once

#include <string>

#include "base/error.h"
#include "exports/export_source.h"

namespace llmprof::exports {

// A flame graph for speedscope, one per device: stage > layer > class > kernel, weighted by kernel
// time in nanoseconds. Levels that are not known are left out: without a timeline it is class >
// kernel. An error where no kernel is known.
Result<std::string> speedscope_profile(const ExportSource& source);

}  // namespace llmprof::exports
