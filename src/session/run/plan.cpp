#include "session/run/passes.h"
#include "session/run/run.h"
#include "session/run/run_time.h"

namespace llmprof::session {
namespace {

// A tool that is missing is a plan without commands, which says so.
capture::CapturePlan plan_without(std::string_view backend, const Error& missing) {
  capture::CapturePlan plan;
  plan.backend = backend;
  plan.notes.push_back("cannot be captured here: " + missing.message);
  return plan;
}

}  // namespace

std::vector<capture::CapturePlan> plan_run(const RunRequest& request) {
  const RunOptions& options = request.options;
  Artifacts bundle;
  bundle.set_root(options.run_folder.empty() ? options.stage2_folder / "<run id>"
                                             : options.run_folder);
  const auto expected = options.facts.expected_seconds;
  const RunTime time =
      estimate_run(request, std::chrono::seconds(static_cast<int64_t>(expected.value_or(0))));
  std::vector<capture::CapturePlan> plans;
  const auto add = [&](capture::CapturePlan plan, std::chrono::milliseconds takes) {
    if (expected) plan.estimate = std::chrono::round<std::chrono::seconds>(takes);
    plans.push_back(std::move(plan));
  };
  add(plan_control(request, bundle), time.control);
  if (request.captures.collector) add(plan_collector(request, bundle), time.collector);
  if (wants_driver_calls(request)) add(plan_driver_calls(request, bundle), time.driver_calls);
  if (request.captures.nsys) {
    const auto nsys = capture::ensure_nsys(capture::tool_search_here());
    add(nsys ? capture::plan_nsys(*nsys, nsys_request(request, bundle))
             : plan_without("nsys", nsys.error()),
        time.nsys);
  }
  if (request.captures.ncu) {
    const auto ncu = capture::ensure_ncu(capture::tool_search_here());
    add(ncu ? capture::plan_ncu(*ncu, ncu_request(request, bundle))
            : plan_without("ncu", ncu.error()),
        time.ncu);
  }
  if (request.captures.torch_profiler) add(plan_torch(request, bundle), time.torch_profiler);
  return plans;
}

}  // namespace llmprof::session
