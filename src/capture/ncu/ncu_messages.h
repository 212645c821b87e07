#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/recording.h"

namespace llmprof::capture {

// ncu's messages in the output of the program it ran.
struct NcuRunMessages {
  bool no_permission = false;     // ERR_NVGPUCTRPERM
  bool driver_in_use = false;     // another tool holds the counters
  bool no_driver = false;         // there is no CUDA driver to connect to
  bool nothing_profiled = false;  // "No kernels were profiled"
  uint64_t launches = 0;          // profiled, according to its log
  std::vector<std::string> unknown_sections;
  std::optional<int64_t> program_exit_code;  // of the program, if not 0
  std::string first_error;                   // any other; short and printable

  void note_line(std::string_view line);
};

// Reads logs of any size, line by line; a missing file yields no messages.
NcuRunMessages read_ncu_messages(const std::filesystem::path& log);

// Why a run under ncu left nothing to read, and what to do about it.
Error failed_ncu_run(const CommandRecord& record, const NcuRunMessages& messages,
                     const NcuRun& run);

// Whether another stage would fail in the same way.
bool concerns_all_stages(const CommandRecord& record, const NcuRunMessages& messages);

// "--nvtx-include LLM@decode_all/, 8 kernels by name, --launch-count 3": for messages.
std::string describe_filter(const NcuRun& run);

// How to get permission to read the GPU's performance counters.
std::string counter_permission_remedy();
// How to free the counters that DCGM holds.
std::string counters_in_use_remedy();

// How many launches ncu has measured, from the log that it is writing.
class MeasuredLaunches {
 public:
  // Reads what was added to the log since the last call.
  uint64_t count(const std::filesystem::path& log);

 private:
  uint64_t read_ = 0;  // bytes
  uint64_t measured_ = 0;
  std::string line_;  // the last one, which may continue
};

}  // namespace llmprof::capture
