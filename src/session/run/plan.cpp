#include "session/run/recordings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::session {
namespace {

using std::chrono::milliseconds;

fs::path planned_folder(const RunOptions& options) {
  return options.run_folder.empty() ? options.stage2_folder / "<run id>" : options.run_folder;
}

}  // namespace

milliseconds RunTime::total(Recording from) const {
  return std::accumulate(of.begin() + static_cast<std::ptrdiff_t>(from), of.end(), milliseconds(0));
}

RunTime estimate_run(const RunRequest& request, milliseconds one_run) {
  RunTime time;
  for (size_t i = 0; i < kRecordings.size(); ++i) {
    if (kRecordings[i].is_certain(request)) time.of[i] = kRecordings[i].takes(request, one_run);
  }
  return time;
}

std::vector<std::string> fit_run(RunRequest& request, milliseconds one_run, milliseconds time,
                                 Recording from) {
  constexpr uint64_t kFewestKernels = 3;
  std::vector<std::string> notes;
  const auto left = [&] { return estimate_run(request, one_run).total(from); };
  const auto fits = [&] { return left() <= time; };
  const auto leave_out = [&](bool& is_on, Recording recording) {
    if (!is_on || fits()) return;
    const milliseconds takes = estimate_run(request, one_run)[recording];
    is_on = false;
    notes.push_back(
        fmt::format("{} is skipped: it would take about {}, which exceeds the time limit",
                    kRecordings.at(static_cast<size_t>(recording)).name, duration_words(takes)));
  };
  if (request.captures.ncu && !fits()) {
    uint64_t& launches = request.options.ncu.launches_per_shape;
    uint64_t& kernels = request.options.top_n_kernels;
    const uint64_t launches_before = launches;
    const uint64_t kernels_before = kernels;
    while (!fits() && launches > 1) --launches;
    while (!fits() && kernels > kFewestKernels) kernels = std::max(kernels / 2, kFewestKernels);
    if (fits()) {
      notes.push_back(
          fmt::format("to fit the time limit, ncu measures {} launch(es) of each shape instead of "
                      "{}, and the {} longest kernels of each stage instead of {}",
                      launches, launches_before, kernels, kernels_before));
    } else {  // ncu is skipped entirely
      launches = launches_before;
      kernels = kernels_before;
    }
  }
  leave_out(request.captures.ncu, Recording::ncu);
  leave_out(request.captures.torch_profiler, Recording::torch_profiler);
  if (!fits()) {
    notes.push_back(fmt::format(
        "the recordings that every run makes take about {}, longer than the time limit leaves ({})",
        duration_words(left()), duration_words(time)));
  }
  return notes;
}

std::string duration_words(milliseconds time) {
  constexpr std::chrono::seconds kLong = std::chrono::minutes(2);
  const auto seconds = std::chrono::round<std::chrono::seconds>(time);
  if (seconds < kLong) return fmt::format("{} s", seconds.count());
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(seconds);
  const auto rest = seconds - minutes;
  return rest.count() == 0 ? fmt::format("{} min", minutes.count())
                           : fmt::format("{} min {} s", minutes.count(), rest.count());
}

std::string run_time_words(const RunTime& time) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kRecordings.size(); ++i) {
    if (time.of[i].count() == 0) continue;
    parts.push_back(fmt::format("{} {}", kRecordings[i].name, duration_words(time.of[i])));
  }
  return fmt::format("about {}: {}", duration_words(time.total()), fmt::join(parts, ", "));
}

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
  const Artifacts bundle(planned_folder(request.options));
  const auto expected = request.options.facts.expected_seconds;
  const std::chrono::seconds one_run(static_cast<int64_t>(expected.value_or(0)));
  std::vector<capture::CapturePlan> plans;
  for (const RecordingRow& row : kRecordings) {
    if (!row.is_certain(request)) continue;
    capture::CapturePlan& plan = plans.emplace_back(row.plan(request, bundle));
    if (expected) {
      plan.estimate = std::chrono::round<std::chrono::seconds>(row.takes(request, one_run));
    }
  }
  return plans;
}

std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans) {
  const RunOptions& options = request.options;
  std::string text = fmt::format("Bundle: {}\n", planned_folder(options).string());
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
