#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/run_options.h"

namespace llmprof::session {

inline constexpr std::string_view kCollectorFile = "libllmprof_collector.so";

// What comes with the program.
struct ProgramFiles {
  fs::path bin;                       // the running program's folder: cpu_llm is there too
  fs::path home;                      // that of workloads/ and python/; empty where there is none
  std::optional<fs::path> collector;  // kCollectorFile
};

// Beside the program in an installed bundle, above it in a build tree.
ProgramFiles find_program_files(const fs::path& program);
ProgramFiles find_program_files();  // of the running program

// Whether the collector can record the GPU's timeline of this workload, on this machine.
struct CollectorReach {
  bool records_cuda = false;
  std::string why_not;            // a clause with the remedy; empty where it can
  std::optional<fs::path> cupti;  // found here; a program's own comes before it
  bool other_injection = false;   // the environment loads another library into CUDA
};
// Looks at the library, the driver and CUPTI; a workload without CUDA needs none of them.
CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program);

// What a run captures, by what was set and, where nothing was, by what suits: the collector
// is the timeline where it can be, else nsys; ncu is on in deep mode, or together with nsys.
struct Captures {
  bool collector = false;
  bool collector_cuda = false;  // the collector's pass is the GPU's timeline
  bool nsys = false;
  bool nsys_in_need = false;  // nsys as a fallback where the collector records no GPU work
  bool ncu = false;
  bool torch_profiler = false;
  std::optional<fs::path> cupti;
  std::vector<std::string> notes;  // why, for the plan

  // Leaves out all but the collector; false where that is not on.
  bool keep_collector_alone() {
    nsys = nsys_in_need = ncu = torch_profiler = false;
    notes.clear();
    return collector;
  }
};
Captures choose_captures(const RunOptions& options, const CollectorReach& reach);

}  // namespace llmprof::session
