#include "capture/ncu/ncu_estimate.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace llmprof::capture {
namespace {

struct Passes {
  std::string_view name;
  uint64_t passes;
};

constexpr std::array kSetPasses = {
    Passes{"basic", 10},    Passes{"default", 10}, Passes{"detailed", 20},  Passes{"full", 38},
    Passes{"roofline", 17}, Passes{"nvlink", 1},   Passes{"pmsampling", 9}, Passes{"source", 5},
};

constexpr std::array kSectionPasses = {
    Passes{"ComputeWorkloadAnalysis", 11},
    Passes{"InstructionStats", 3},
    Passes{"LaunchStats", 1},
    Passes{"MemoryWorkloadAnalysis", 9},
    Passes{"MemoryWorkloadAnalysis_Chart", 14},
    Passes{"MemoryWorkloadAnalysis_Tables", 30},
    Passes{"NumaAffinity", 1},
    Passes{"Nvlink", 1},
    Passes{"Nvlink_Tables", 1},
    Passes{"Nvlink_Topology", 1},
    Passes{"Occupancy", 1},
    Passes{"PmSampling", 4},
    Passes{"PmSampling_WarpStates", 9},
    Passes{"SchedulerStats", 1},
    Passes{"SourceCounters", 5},
    Passes{"SpeedOfLight", 10},
    Passes{"SpeedOfLight_HierarchicalDoubleRooflineChart", 3},
    Passes{"SpeedOfLight_HierarchicalHalfRooflineChart", 3},
    Passes{"SpeedOfLight_HierarchicalSingleRooflineChart", 3},
    Passes{"SpeedOfLight_HierarchicalTensorRooflineChart", 8},
    Passes{"SpeedOfLight_RooflineChart", 3},
    Passes{"WarpStateStats", 9},
    Passes{"WorkloadDistribution", 1},
};

// Of a set or section that the tables do not know.
constexpr uint64_t kUnknownPasses = 10;
// Launches of LLM kernels: 120 in 72 s beyond the program's own time, 60 in 42 s, each 18 passes;
// saving and restoring memory is most of it.
constexpr std::chrono::milliseconds kTimePerPass(37);

template <size_t N>
uint64_t passes_of(const std::array<Passes, N>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Passes& entry) { return entry.name == name; });
  return found == table.end() ? kUnknownPasses : found->passes;
}

}  // namespace

uint64_t predicted_passes(const NcuOptions& options) {
  // ncu packs what was asked for into shared passes: roofline's 17 with MemoryWorkloadAnalysis (9),
  // Occupancy and SchedulerStats became 18. So the most demanding part counts, and a little.
  uint64_t most = options.set.empty() ? 1 : passes_of(kSetPasses, options.set);
  bool several = false;
  for (const std::string& section : options.sections) {
    most = std::max(most, passes_of(kSectionPasses, section));
    several = several || !options.set.empty() || options.sections.size() > 1;
  }
  return most + (several ? 1 : 0);
}

std::optional<std::chrono::seconds> predicted_time(
    const NcuOptions& options, const std::vector<NcuRun>& runs,
    std::optional<std::chrono::milliseconds> workload_time) {
  if (!workload_time) return std::nullopt;
  const uint64_t passes = predicted_passes(options);
  std::chrono::milliseconds total(0);
  for (const NcuRun& run : runs) {
    // The whole program runs once for each pass.
    if (options.replay_mode == "application" || options.replay_mode == "app-range") {
      total += *workload_time * static_cast<int64_t>(passes);
      continue;
    }
    const auto launches = run.expected_launches();
    if (!launches) return std::nullopt;
    total += *workload_time + kTimePerPass * static_cast<int64_t>(*launches * passes);
  }
  return std::chrono::ceil<std::chrono::seconds>(total);
}

}  // namespace llmprof::capture
