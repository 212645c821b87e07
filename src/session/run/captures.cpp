#include "session/run/captures.h"

#include <fmt/format.h>

#include "capture/launcher.h"

namespace llmprof::session {
namespace {

bool decide(Switch wanted, bool suits) {
  return wanted == Switch::automatic ? suits : wanted == Switch::on;
}

// ncu replays a kernel several times: within a collective the other ranks would wait for ever.
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
        "CUDA_INJECTION64_PATH is set here: that library is in every pass but the collector's, "
        "which takes its place, and in the control run too; unset it for a valid comparison");
  }
  return notes;
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
  // Without CUDA tracing the log would hold only ranges, which nsys's pass records too.
  captures.collector = wanted.collector && (!cuda || captures.collector_cuda || !captures.nsys);
  if (captures.collector_cuda) captures.cupti = reach.cupti;
  captures.notes = reasons(options, reach, captures);
  return captures;
}

}  // namespace llmprof::session
