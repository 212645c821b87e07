#include "session/run/captures.h"

#include <fmt/format.h>

#include "capture/launcher.h"
#include "capture/probes/doctor.h"
#include "capture/tools.h"

namespace llmprof::session {
namespace {

bool decide(Switch wanted, bool suits) {
  return wanted == Switch::automatic ? suits : wanted == Switch::on;
}

// ncu replays a kernel several times; in a collective, the other ranks would wait forever.
bool starts_several_ranks(const RunOptions& options) {
  const auto launcher = capture::find_launcher(options.workload.argv);
  return launcher && capture::starts_several_ranks(*launcher);
}

std::vector<std::string> reasons(const RunOptions& options, const CollectorReach& reach,
                                 const Captures& captures) {
  std::vector<std::string> notes;
  if (!options.workload.uses_cuda) return notes;
  const bool nsys_by_itself = options.pipeline.nsys == Switch::automatic;
  if (captures.collector_cuda) {
    notes.push_back(fmt::format(
        "timeline: the collector's, with the program's own CUPTI{}{}",
        captures.cupti ? fmt::format(", else {}", captures.cupti->string()) : std::string(),
        nsys_by_itself ? "; nsys is left out (pipeline.nsys.enable=true adds it)" : ""));
  } else if (captures.nsys) {
    notes.push_back(
        fmt::format("timeline: nsys's; {}", options.pipeline.collector
                                                ? "the collector cannot record it: " + reach.why_not
                                                : "pipeline.collector.enable=false"));
  } else if (options.pipeline.collector) {
    notes.push_back("no timeline of the GPU: the collector cannot record it: " + reach.why_not +
                    "; and pipeline.nsys.enable=false");
  }
  if (starts_several_ranks(options)) {
    notes.emplace_back(
        captures.ncu ? "ncu replays kernels: with several ranks it deadlocks in a collective, "
                       "unless the program has none"
                     : "ncu is left out with several ranks: its replay deadlocks in collectives "
                       "(pipeline.ncu.enable=true adds it)");
  } else if (options.pipeline.ncu == Switch::automatic && !captures.ncu) {
    notes.emplace_back(
        "ncu is left out in light mode: the collector samples counters (pipeline.ncu.enable=true "
        "adds it)");
  }
  if (reach.other_injection) {
    notes.emplace_back(
        "CUDA_INJECTION64_PATH is set here: that library is loaded in the control run and in every "
        "recording but the collector's, which replaces it; unset it for a valid comparison");
  }
  return notes;
}

// The workload's Python, since its packages may include CUPTI.
std::string python_of(const capture::WorkloadCommand& workload) {
  const std::string program = workload.argv.empty() ? std::string() : workload.argv.front();
  const std::string name = fs::path(program).filename().string();
  return name.starts_with("python") ? program : capture::DoctorOptions{}.python;
}

}  // namespace

Captures choose_captures(const RunOptions& options, const CollectorReach& reach) {
  const bool cuda = options.workload.uses_cuda;
  const PipelineToggles& wanted = options.pipeline;
  Captures captures;
  captures.collector_cuda = cuda && wanted.collector && reach.records_cuda;
  captures.nsys = decide(wanted.nsys, cuda && !captures.collector_cuda);
  captures.nsys_in_need = captures.collector_cuda && wanted.nsys == Switch::automatic;
  captures.ncu =
      decide(wanted.ncu, cuda && !starts_several_ranks(options) &&
                             (options.mode == RunMode::deep || !captures.collector_cuda));
  captures.torch_profiler = wanted.torch_profiler;
  // Without CUDA tracing the log would contain only ranges, which nsys's pass records too.
  captures.collector = wanted.collector && (!cuda || captures.collector_cuda || !captures.nsys);
  if (captures.collector_cuda) captures.cupti = reach.cupti;
  captures.notes = reasons(options, reach, captures);
  return captures;
}

CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program) {
  CollectorReach reach;
  capture::DoctorOptions machine;
  machine.python = python_of(options.workload);
  const fs::path injected(machine.cuda.injection);
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
  // A user who names a CUPTI has a GPU, even if a sandbox hides the driver.
  if (machine.cuda.cupti.empty() && !capture::has_nvidia_driver(machine.search)) {
    reach.why_not = "no NVIDIA driver is loaded here";
    return reach;
  }
  reach.cupti = capture::find_cupti(machine);
  // Without nsys, try the collector anyway: the program may include a CUPTI that no search finds.
  reach.records_cuda = reach.cupti || !capture::ensure_tool(capture::Tool::nsys, machine.search);
  if (!reach.records_cuda) {
    reach.why_not = "no libcupti.so was found; LLMPROF_CUPTI=FILE names one (see llmprof doctor)";
  }
  return reach;
}

ProgramFiles find_program_files(const fs::path& program) {
  ProgramFiles files;
  std::error_code ignored;
  files.bin = program.parent_path();
  const fs::path above = files.bin.parent_path();
  for (const fs::path& folder : {above, above.parent_path()}) {
    if (fs::is_regular_file(folder / "workloads" / "hf_llm.py", ignored)) {
      files.home = folder;
      break;
    }
  }
  const fs::path collector = above / "lib" / kCollectorFile;
  if (fs::is_regular_file(collector, ignored)) files.collector = collector;
  return files;
}

ProgramFiles find_program_files() {
  std::error_code ignored;
  return find_program_files(fs::read_symlink("/proc/self/exe", ignored));
}

}  // namespace llmprof::session
