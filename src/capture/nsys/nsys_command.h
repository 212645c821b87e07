#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "capture/nsys/nsys_capture.h"
#include "capture/workload_pass.h"

namespace llmprof::capture {

// Whether an NVTX range starts and ends the capture.
bool is_gated_by_nvtx(const NsysOptions& options);

// The pass that profiles the workload into `work`/run.*. nsys keeps its scratch files there too,
// where the size limit sees them and a kill leaves them; the workload's own TMPDIR stays.
WorkloadPass nsys_pass(const InstalledTool& nsys, const NsysRequest& request,
                       const std::vector<std::string>& trace, const std::filesystem::path& work);

}  // namespace llmprof::capture
