#pragma once

#include <span>

#include "compare/spread/spread.h"
#include "report/document.h"

namespace llmprof::report {

// How far the runs of `llmprof run --repeat` differ: a table, and what change they could show.
Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu);

}  // namespace llmprof::report
