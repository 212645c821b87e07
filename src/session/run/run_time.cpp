#include "session/run/run_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "capture/ncu/ncu_runs.h"
#include "session/run/recordings.h"

namespace llmprof::session {
namespace {

using std::chrono::milliseconds;

// Time of a recording in runs of the workload. nsys writes its report and exports it. On an
// H200 a run under the collector took 0.82 of the control run, which had filled the caches, and one
// under torch.profiler, of one request, 1.09 (17 November 2026, llama_1b).
constexpr double kUnderCollector = 1.0;
constexpr double kUnderNsys = 2.0;
constexpr double kUnderTorch = 1.1;

milliseconds times(milliseconds one_run, double runs) {
  return milliseconds(static_cast<int64_t>(static_cast<double>(one_run.count()) * runs));
}

bool has_timeline(const Captures& captures) { return captures.collector || captures.nsys; }

// The workloads that come with llmprof set ranges; a program after `--` may not.
bool is_annotated(const RunOptions& options) { return options.facts.name != "program"; }

class Fitting {
 public:
  Fitting(RunRequest& request, milliseconds one_run, milliseconds time, FitFrom from)
      : request_(request), one_run_(one_run), time_(time), from_(from) {}

  std::vector<std::string> fit() {
    if (request_.captures.ncu) shorten_ncu();
    leave_out(request_.captures.ncu, "ncu", needed().ncu);
    leave_out(request_.captures.torch_profiler, "torch.profiler", needed().torch_profiler);
    if (!fits()) {
      notes_.push_back(
          fmt::format("the recordings that every run makes take about {}, longer than the time "
                      "limit leaves ({})",
                      duration_words(left()), duration_words(time_)));
    }
    return std::move(notes_);
  }

 private:
  [[nodiscard]] RunTime needed() const { return estimate_run(request_, one_run_); }
  [[nodiscard]] milliseconds left() const {
    return from_ == FitFrom::start ? needed().total() : needed().after_control();
  }
  [[nodiscard]] bool fits() const { return left() <= time_; }

  void shorten_ncu() {
    uint64_t& launches = request_.options.ncu.launches_per_shape;
    uint64_t& kernels = request_.options.top_n_kernels;
    const uint64_t launches_before = launches;
    const uint64_t kernels_before = kernels;
    while (!fits() && launches > 1) --launches;
    while (!fits() && kernels > kFewestKernels) kernels = std::max(kernels / 2, kFewestKernels);
    if (launches == launches_before && kernels == kernels_before) return;
    if (!fits()) {  // it goes as a whole
      launches = launches_before;
      kernels = kernels_before;
      return;
    }
    notes_.push_back(
        fmt::format("to fit the time limit, ncu measures {} launch(es) of each shape instead of "
                    "{}, and the {} longest kernels of each stage instead of {}",
                    launches, launches_before, kernels, kernels_before));
  }

  void leave_out(bool& recording, std::string_view name, milliseconds takes) {
    if (!recording || fits()) return;
    recording = false;
    notes_.push_back(
        fmt::format("{} is left out: it takes about {}, which the time limit does not "
                    "leave",
                    name, duration_words(takes)));
  }

  static constexpr uint64_t kFewestKernels = 3;
  RunRequest& request_;
  milliseconds one_run_;
  milliseconds time_;
  FitFrom from_;
  std::vector<std::string> notes_;
};

}  // namespace

RunTime estimate_run(const RunRequest& request, milliseconds one_run) {
  const Captures& captures = request.captures;
  RunTime time;
  time.control =
      times(one_run, static_cast<double>(std::max<uint64_t>(1, request.options.repeats)));
  if (captures.collector) time.collector = times(one_run, kUnderCollector);
  if (wants_driver_calls(request)) time.driver_calls = one_run;
  if (captures.nsys) time.nsys = times(one_run, kUnderNsys);
  if (captures.ncu) {
    const auto chosen = has_timeline(captures) ? std::optional(request.options.top_n_kernels)
                                               : std::optional<uint64_t>();
    const bool gated = request.options.ncu.gating_nvtx && is_annotated(request.options);
    time.ncu = capture::predicted_time_unseen(request.options.ncu, chosen, gated, one_run);
  }
  if (captures.torch_profiler) time.torch_profiler = times(one_run, kUnderTorch);
  return time;
}

std::vector<std::string> fit_run(RunRequest& request, milliseconds one_run, milliseconds time,
                                 FitFrom from) {
  return Fitting(request, one_run, time, from).fit();
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
  const auto add = [&](std::string_view name, milliseconds takes) {
    if (takes.count() > 0) parts.push_back(fmt::format("{} {}", name, duration_words(takes)));
  };
  add("control run", time.control);
  add("collector", time.collector);
  add("driver calls", time.driver_calls);
  add("nsys", time.nsys);
  add("ncu", time.ncu);
  add("torch.profiler", time.torch_profiler);
  return fmt::format("about {}: {}", duration_words(time.total()), fmt::join(parts, ", "));
}

}  // namespace llmprof::session
