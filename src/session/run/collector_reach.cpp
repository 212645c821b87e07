#include <fmt/format.h>

#include "capture/installed_tool.h"
#include "capture/probes/cuda_here.h"
#include "session/run/captures.h"

namespace llmprof::session {
namespace {

// Python's packages may bring a CUPTI: those of the Python that the workload runs in.
std::string python_of(const capture::WorkloadCommand& workload) {
  const std::string program = workload.argv.empty() ? std::string() : workload.argv.front();
  const std::string name = std::filesystem::path(program).filename().string();
  return name.starts_with("python") ? program : capture::DoctorOptions{}.python;
}

}  // namespace

CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program) {
  CollectorReach reach;
  capture::DoctorOptions machine;
  machine.python = python_of(options.workload);
  const std::filesystem::path injected(machine.cuda.injection);
  reach.other_injection = !injected.empty() && injected.filename() != kCollectorFile;
  if (!options.workload.uses_cuda || !options.pipeline.collector) return reach;
  if (!program.collector) {
    reach.why_not = fmt::format("{} is not installed with this program", kCollectorFile);
    return reach;
  }
  if (!capture::has_cuda_half(*program.collector)) {
    reach.why_not =
        fmt::format("it was built without CUDA tracing (CUPTI); {}", capture::cuda_half_remedy());
    return reach;
  }
  // Whoever names a CUPTI by hand knows of a GPU, also where a sandbox hides the driver.
  if (machine.cuda.cupti.empty() && !capture::has_nvidia_driver(machine.search)) {
    reach.why_not = "no NVIDIA driver is loaded here";
    return reach;
  }
  reach.cupti = capture::find_cupti(machine);
  // The program may bring a CUPTI that no search finds: better tried than no timeline at all.
  reach.records_cuda = reach.cupti || !capture::ensure_nsys(machine.search);
  if (!reach.records_cuda) {
    reach.why_not = "no libcupti.so was found; LLMPROF_CUPTI=FILE names one (see llmprof doctor)";
  }
  return reach;
}

}  // namespace llmprof::session
