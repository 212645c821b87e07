#pragma once

#include "report/document.h"
#include "report/sections/sections.h"

namespace llmprof::report {

// For the terminal: a line a stage with its largest parts, and what to fix first.
void add_stage_overview(const Reported& reported, Document& document);
void add_finding_overview(const Reported& reported, Document& document);

}  // namespace llmprof::report
