#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "capture/shell.h"
#include "session/run/recordings.h"
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

std::optional<std::string> crowded_ranks(const RunOptions& options, size_t runs) {
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  if (!options.ranks || *options.ranks <= cores) return std::nullopt;
  return fmt::format(
      "workload.ranks={0}: {0} processes share {1} of this machine and wait for each other, in "
      "{2}; "
      "this may take minutes (workload.ranks={3} fits the machine)",
      *options.ranks, counted(cores, "core"), counted(runs, "run"), std::max<size_t>(cores, 2));
}

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

std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans) {
  const RunOptions& options = request.options;
  std::string text = fmt::format("Bundle: {}\n", options.run_folder.empty()
                                                     ? (options.stage2_folder / "<run id>").string()
                                                     : options.run_folder.string());
  for (const std::string& note : request.captures.notes) text += fmt::format("# {}\n", note);
  for (const std::string& note : request.left_out) text += fmt::format("# {}\n", note);
  if (const auto crowd = crowded_ranks(options, plans.size()))
    text += fmt::format("# {}\n", *crowd);
  std::chrono::seconds total{0};
  bool all_known = true;
  for (const capture::CapturePlan& plan : plans) {
    text += fmt::format("\n{}{}\n", plan.backend,
                        plan.estimate ? " (about " + duration_words(*plan.estimate) + ")" : "");
    for (const std::string& note : plan.notes) text += "  # " + note + "\n";
    for (const capture::PlannedCommand& command : plan.commands) {
      text += fmt::format("  {}: {}\n", command.name,
                          capture::shell_line(command.argv, command.environment));
    }
    for (const auto& file : plan.files) text += fmt::format("  -> {}\n", file.string());
    if (plan.estimate) total += *plan.estimate;
    all_known = all_known && plan.estimate.has_value();
  }
  text += fmt::format("\nEstimated time: {}\n",
                      all_known ? "about " + duration_words(total)
                                : "not known before the control run (workload.expected_s)");
  return text;
}

}  // namespace llmprof::session
