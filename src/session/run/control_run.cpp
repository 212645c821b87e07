#include <fmt/format.h>

#include <algorithm>

#include "base/streams/byte_stream.h"
#include "capture/launcher_exports.h"
#include "session/run/pass_failure.h"
#include "session/run/passes.h"
#include "session/run/rank_states.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kControlFolder = "stage1";
constexpr std::string_view kMetrics = "stage1/metrics.json";
constexpr size_t kLargestMetrics = 16UL << 20U;

// What the light watch notes.
fs::path launches_folder(const RunRequest& request, const Artifacts& bundle, uint64_t number) {
  const bool only = request.options.repeats <= 1;
  return bundle.path(only ? std::string(kControlLaunches)
                          : fmt::format("{}_{}", kControlLaunches, number));
}

capture::WorkloadPass control_pass(const RunRequest& request, const Artifacts& bundle,
                                   uint64_t number) {
  capture::WorkloadPass pass;
  const bool only = request.options.repeats <= 1;
  pass.name = only ? "control" : fmt::format("control_{}", number);
  pass.folder = bundle.path(kControlFolder);
  const fs::path metrics =
      only ? bundle.path(kMetrics) : bundle.path(fmt::format("stage1/metrics_{}.json", number));
  pass.environment = pass_environment(request, metrics, Recording::none);
  const Variables watch = watch_environment(request, Watch::only);
  if (watch.empty()) return pass;
  std::erase_if(pass.environment, [](const auto& set) { return set.first == "LLMPROF_LOG_DIR"; });
  pass.environment.insert(pass.environment.end(), watch.begin(), watch.end());
  pass.environment.emplace_back("LLMPROF_LOG_DIR",
                                fs::absolute(launches_folder(request, bundle, number)).string());
  return pass;
}

struct Control {
  uint64_t number = 1;
  std::chrono::nanoseconds duration{0};
};

// The metrics of the median run are kept, and its launches.
Result<void> keep_median(const RunRequest& request, const Artifacts& bundle,
                         const Control& median) {
  std::error_code none;  // a program without launches has no such folder
  fs::rename(launches_folder(request, bundle, median.number), bundle.path(kControlLaunches), none);
  const fs::path metrics = bundle.path(fmt::format("stage1/metrics_{}.json", median.number));
  std::error_code ignored;
  if (!fs::exists(metrics, ignored)) return {};
  auto stream = open_byte_stream(metrics);
  if (!stream) return fail_with(stream.error());
  const auto text = read_all(**stream, kLargestMetrics);
  if (!text) return fail_with(text.error().within(metrics.string()));
  return bundle.write(kMetrics, *text);
}

// Where a rank of a distributed job died by itself.
std::optional<Error> job_failure(const RunRequest& request, const capture::CommandRecord& record) {
  const auto launcher = capture::find_launcher(request.options.workload.argv);
  return rank_failure(rank_states(launcher, record, {}), record,
                      "this was the control run, and the job is recorded all the same");
}

}  // namespace

Result<ControlRun> run_control(const RunRequest& request, const Artifacts& bundle) {
  if (const auto made = bundle.make_folder(kControlFolder); !made) return fail_with(made.error());
  std::vector<Control> runs;
  const uint64_t repeats = std::max<uint64_t>(1, request.options.repeats);
  for (uint64_t number = 1; number <= repeats; ++number) {
    const capture::WorkloadPass pass = control_pass(request, bundle, number);
    const auto record = capture::run_pass(request.options.workload, pass, pass_limits(request));
    if (!record) return fail_with(record.error());
    if (const auto failure = pass_failure(*record)) {
      if (auto of_job = job_failure(request, *record)) return ControlRun{{}, std::move(of_job)};
      return fail_with(*failure);
    }
    runs.push_back({number, record->result.duration});
  }
  std::sort(runs.begin(), runs.end(),
            [](const Control& a, const Control& b) { return a.duration < b.duration; });
  const Control& median = runs[runs.size() / 2];
  if (repeats > 1) {
    if (const auto kept = keep_median(request, bundle, median); !kept) {
      return fail_with(kept.error());
    }
  }
  return ControlRun{median.duration, {}};
}

capture::CapturePlan plan_control(const RunRequest& request, const Artifacts& bundle) {
  capture::CapturePlan plan;
  plan.backend = kControlFolder;
  const uint64_t repeats = std::max<uint64_t>(1, request.options.repeats);
  for (uint64_t number = 1; number <= repeats; ++number) {
    capture::WorkloadPass pass = control_pass(request, bundle, number);
    plan.commands.push_back(
        {pass.name, capture::exported_argv(request.options.workload.argv, pass.environment),
         pass.environment});
  }
  plan.files.emplace_back(kMetrics);
  plan.notes.emplace_back("the workload without profiling: the baseline of every capture");
  return plan;
}

}  // namespace llmprof::session
