#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"
#include "capture/workload_pass.h"

namespace llmprof::capture {

// Whether an NVTX range starts and ends the capture.
bool is_gated_by_nvtx(const NsysOptions& options);

// The pass that profiles the workload into `work`/run.*. nsys keeps its scratch files there too,
// where the size limit sees them and a kill leaves them; the workload's own TMPDIR stays.
WorkloadPass nsys_pass(const InstalledTool& nsys, const NsysRequest& request,
                       const std::vector<std::string>& trace, const std::filesystem::path& work);

// What an attempt left under the name that it was told.
enum class NsysOutput : uint8_t { none, empty, garbage, report };

struct NsysFailure {
  Error error;
  bool is_nsys_own = false;  // then another rung of the ladder may do better
};

// Why an attempt failed, or nothing where it succeeded.
std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output);

// The statistics worth keeping, by the names that this nsys has for them (they changed after
// 2022), of what `nsys stats --help-reports` printed. Empty where it printed none of them.
std::vector<std::string> choose_nsys_reports(std::string_view help_reports);

}  // namespace llmprof::capture
