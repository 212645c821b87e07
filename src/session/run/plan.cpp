#include <algorithm>

#include "session/run/passes.h"
#include "session/run/run.h"

namespace llmprof::session {
namespace {

// A tool that is missing is a plan without commands, which says so.
capture::CapturePlan plan_without(std::string_view backend, const Error& missing) {
  capture::CapturePlan plan;
  plan.backend = backend;
  plan.notes.push_back("cannot be captured here: " + missing.message);
  return plan;
}

// One run of the workload, give or take what watching it costs.
void estimate_pass(capture::CapturePlan& plan, const RunRequest& request, double runs) {
  if (plan.estimate || !request.options.facts.expected_seconds) return;
  plan.estimate = std::chrono::seconds(
      static_cast<int64_t>(static_cast<double>(*request.options.facts.expected_seconds) * runs));
}

}  // namespace

std::vector<capture::CapturePlan> plan_run(const RunRequest& request) {
  const RunOptions& options = request.options;
  Artifacts bundle;
  bundle.set_root(options.run_folder.empty() ? options.stage2_folder / "<run id>"
                                             : options.run_folder);
  // nsys writes its report and exports it; torch.profiler slows eager code by half or more.
  constexpr double kUnderCollector = 1.0;
  constexpr double kUnderNsys = 2.0;
  constexpr double kUnderTorch = 2.5;
  std::vector<capture::CapturePlan> plans;
  const auto add = [&](capture::CapturePlan plan, double runs) {
    estimate_pass(plan, request, runs);
    plans.push_back(std::move(plan));
  };
  add(plan_control(request, bundle), static_cast<double>(std::max<uint64_t>(1, options.repeats)));
  if (request.captures.collector) add(plan_collector(request, bundle), kUnderCollector);
  if (request.captures.nsys) {
    const auto nsys = capture::ensure_nsys(capture::tool_search_here());
    add(nsys ? capture::plan_nsys(*nsys, nsys_request(request, bundle))
             : plan_without("nsys", nsys.error()),
        kUnderNsys);
  }
  if (request.captures.ncu) {
    const auto ncu = capture::ensure_ncu(capture::tool_search_here());
    capture::NcuRequest wanted = ncu_request(request, bundle);
    if (options.facts.expected_seconds) {
      wanted.workload_time = std::chrono::seconds(*options.facts.expected_seconds);
    }
    plans.push_back(ncu ? capture::plan_ncu(*ncu, wanted) : plan_without("ncu", ncu.error()));
  }
  if (request.captures.torch_profiler) add(plan_torch(request, bundle), kUnderTorch);
  return plans;
}

}  // namespace llmprof::session
