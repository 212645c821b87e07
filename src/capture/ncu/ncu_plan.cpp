#include <fmt/format.h>

#include <algorithm>

#include "capture/ncu/ncu_capture.h"
#include "capture/ncu/ncu_estimate.h"
#include "capture/ncu/ncu_failures.h"
#include "capture/ncu/ncu_runs.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

std::string run_note(const NcuRun& run, uint64_t passes) {
  const auto launches = run.expected_launches();
  const std::string how_many = launches ? fmt::format("about {} launches", *launches)
                                        : "a number of launches that is known only then";
  return fmt::format("{}: {}, each replayed in about {} passes ({})", run.name, how_many, passes,
                     describe_filter(run));
}

}  // namespace

CapturePlan plan_ncu(const InstalledTool& ncu, const NcuRequest& request) {
  const NcuFeatures features = ncu_features(ncu);
  const std::vector<NcuRun> runs = plan_ncu_runs(request.options, request.kernels, features);
  const uint64_t passes = predicted_passes(request.options);
  std::error_code status;
  const path folder = std::filesystem::absolute(request.bundle / "ncu", status);
  CapturePlan plan;
  plan.backend = "ncu";
  for (const NcuRun& run : runs) {
    const path report = folder / (run.name + ".ncu-rep");
    plan.commands.push_back({run.name,
                             build_ncu_cmd(ncu, features, request.options, run, folder / run.name,
                                           request.workload.argv),
                             request.environment});
    plan.commands.push_back(
        {run.name + "-export", build_ncu_import_cmd(ncu, features, run, report), {}});
    plan.files.push_back(path("ncu") / (run.name + ".ncu-rep"));
    plan.files.push_back(path("ncu") / (run.name + "_raw.csv"));
    plan.notes.push_back(run_note(run, passes));
  }
  if (std::any_of(runs.begin(), runs.end(), [&](const NcuRun& run) {
        return !run.kernels.empty() && loses_kernels(request.options, run);
      })) {
    plan.notes.emplace_back(
        "if ncu loses kernels of a stage, the stage is run once more for these kernels only");
  }
  plan.commands.push_back({"list-sections", {ncu.path.string(), "--list-sections"}, {}});
  plan.files.emplace_back("ncu/raw.csv");
  plan.files.emplace_back("ncu/sections.txt");
  plan.estimate = predicted_time(request.options, runs, request.workload_time);
  if (request.kernels.empty()) {
    plan.notes.emplace_back("without a timeline the kernels are not chosen by their time");
  }
  if (plan.estimate) {
    plan.notes.emplace_back(
        "time: that of the workload for each run, plus 37 ms per pass and launch in an NVTX range, "
        "80 ms elsewhere (measured on an H200); reports take about 1 to 3 MB per launch");
  }
  return plan;
}

}  // namespace llmprof::capture
