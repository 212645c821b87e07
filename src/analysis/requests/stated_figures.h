#pragma once

#include <vector>

#include "analysis/requests/client_requests.h"
#include "base/diagnostics.h"
#include "profile/requests.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// A file's own aggregates, computed again from its requests by the definitions of the tool that
// wrote it, which differ from ours. Figures that the table of formulas does not have are left out.
std::vector<profile::StatedFigure> stated_figures(const trace::Trace& trace,
                                                  const ClientRequests& requests);

// Reports figures that do not follow from the file's requests.
void report_deviations(const std::string& file, const std::vector<profile::StatedFigure>& figures,
                       Diagnostics& diagnostics);

}  // namespace llmprof::analysis
