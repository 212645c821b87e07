#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/run_options.h"

namespace llmprof::session {

inline constexpr std::string_view kCollectorFile = "libllmprof_collector.so";

// Files that ship with llmprof.
struct ProgramFiles {
  fs::path bin;                       // the running program's folder, which also contains cpu_llm
  fs::path home;                      // of workloads/ and python/; empty if there is none
  std::optional<fs::path> collector;  // kCollectorFile
};

// Next to the program in an installed bundle, above it in a build tree.
ProgramFiles find_program_files(const fs::path& program);
ProgramFiles find_program_files();  // for the running program

// Whether the collector can record this workload's GPU timeline on this machine.
struct CollectorReach {
  bool records_cuda = false;
  std::string why_not;            // a clause with the remedy; empty if it can
  std::optional<fs::path> cupti;  // found here; the program's own has precedence
  bool other_injection = false;   // the environment loads another library into CUDA
};
// Checks the library, the driver and CUPTI; a workload without CUDA needs none of these.
CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program);

// What a run captures. Options decide; by default, the collector records the timeline if it can,
// otherwise nsys does, and ncu is on in deep mode or together with nsys.
struct Captures {
  bool collector = false;
  bool collector_cuda = false;  // the collector's pass is the GPU timeline
  bool nsys = false;
  bool nsys_in_need = false;  // nsys as a fallback if the collector records no GPU work
  bool ncu = false;
  bool torch_profiler = false;
  std::optional<fs::path> cupti;
  std::vector<std::string> notes;  // reasons, for the plan

  // Turns off everything except the collector; false if that is off.
  bool keep_collector_alone() {
    nsys = nsys_in_need = ncu = torch_profiler = false;
    notes.clear();
    return collector;
  }
};
Captures choose_captures(const RunOptions& options, const CollectorReach& reach);

}  // namespace llmprof::session
