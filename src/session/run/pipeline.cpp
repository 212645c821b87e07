#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/needed.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/nsys/nsys_capture.h"
#include "readers/shared/reader.h"
#include "session/analysis/analyze.h"
#include "session/bundle/inputs.h"
#include "session/bundle/provenance/provenance.h"
#include "session/bundle/records.h"
#include "session/bundle/run_dir.h"
#include "session/run/kernel_selection.h"
#include "session/run/log_contents.h"
#include "session/run/ranks.h"
#include "session/run/recordings.h"

namespace llmprof::session {
namespace {

using Clock = std::chrono::steady_clock;

// An estimate may be off by one part in this many.
constexpr int kClose = 5;
constexpr std::chrono::milliseconds kUnknownTime(0);
// Shorter times are not worth announcing.
constexpr std::chrono::milliseconds kWorthSaying = std::chrono::seconds(20);

class Pipeline {
 public:
  // Adapts `request` to its time limit during the run.
  Pipeline(RunRequest& request, Artifacts bundle, Progress& progress)
      : request_(request),
        options_(request.options),
        captures_(request.captures),
        bundle_(std::move(bundle)),
        progress_(progress),
        recordings_(count_recordings(request)) {}

  RunOutcome run() {
    if (request_.rank) return run_rank(*request_.rank);
    record_captures();
    if (const auto crowd = crowded_ranks(options_, recordings_)) {
      progress_.announce(*crowd);
    }
    for (const std::string& note : captures_.notes) progress_.note(note);
    for (const std::string& change : request_.left_out) note_time_limit(change);
    announce_expected_time();
    if (control()) {
      fit_to_control_run();
      if (captures_.collector) collect();
      if (captures_.nsys || (captures_.nsys_in_need && !recorded_gpu_)) trace();
      if (captures_.ncu && !leaves_ncu_out()) measure_kernels();
      if (captures_.torch_profiler) trace_operators();
    }
    if (stopped() && outcome_.failures.empty()) {
      fail_backend("run", {ErrorKind::tool, "interrupted; what was captured before is kept"});
    }
    outcome_.folder = bundle_.root();
    analyze_bundle(bundle_.root());
    report_missing_ranks();
    return std::move(outcome_);
  }

 private:
  // Records one rank of a job that its launcher started.
  RunOutcome run_rank(const RankOfJob& own) {
    outcome_.folder = bundle_.root();
    begin_rank(own, bundle_);
    begin_recording(fmt::format("rank {}: the program, recorded by llmprof", own.rank));
    const capture::CaptureResult captured = run_collector(request_, bundle_);
    keep(fmt::format("rank {}", own.rank), captured);
    attempt_ranks([&] { end_rank(own, captured, bundle_); });
    if (own.rank != 0 || !own.wait || stopped()) return std::move(outcome_);
    progress_.begin("waiting for the other ranks");
    attempt_ranks([&] { wait_for_ranks(own, request_.stop); });
    outcome_.folder = own.folder;
    analyze_bundle(own.folder);
    return std::move(outcome_);
  }

  template <class Work>
  void attempt_ranks(Work work) {
    if (const auto done = attempt(work); !done) fail_backend("ranks", done.error());
  }

  // A script or the program itself may have started the ranks; only the logs show it.
  bool leaves_ncu_out() {
    if (options_.pipeline.ncu != Switch::automatic) return false;
    const size_t ranks = count_ranks(rank_logs(bundle_.path("collector")));
    if (ranks < 2) return false;
    progress_.note(fmt::format(
        "ncu is skipped: the collector saw {} ranks, and ncu's replay deadlocks in collectives "
        "(pipeline.ncu.enable=true adds it)",
        ranks));
    return true;
  }

  // Reports ranks that only the analysis finds missing: their job has more than were recorded here.
  void report_missing_ranks() {
    const auto launcher = capture::find_launcher(options_.workload.argv);
    if (!outcome_.analysis || !outcome_.analysis->profile.job || !outcome_.failures.empty()) return;
    if (launcher && launcher->one_of_several) return;  // the others are recorded elsewhere
    const profile::Job& job = *outcome_.analysis->profile.job;
    RanksRecord ranks;
    ranks.world_size = job.world_size;
    for (const uint64_t rank : job.died) {
      ranks.ranks.push_back({rank, RankState::died, "its recording ends early"});
    }
    for (const uint64_t rank : job.missing) {
      ranks.ranks.push_back({rank, RankState::missing, "it left no log"});
    }
    if (!ranks.ranks.empty()) {
      fail_backend("ranks",
                   {ErrorKind::tool, name_ranks(ranks) + "; the others' recordings are analyzed"});
    }
  }

  [[nodiscard]] bool stopped() const { return request_.stop != nullptr && request_.stop->load(); }

  // Shows which recording starts, out of how many. nsys as a fallback for the collector adds one.
  void begin_recording(std::string_view what) {
    progress_.set_pass(++recording_, recordings_);
    progress_.begin(what);
  }

  // Control run and captures, without the analysis.
  static size_t count_recordings(const RunRequest& request) {
    return static_cast<size_t>(std::ranges::count_if(
        kRecordings, [&](const RecordingRow& row) { return row.is_certain(request); }));
  }

  void announce_expected_time() {
    const auto expected = options_.facts.expected_seconds;
    if (!expected) return;
    expected_ = estimate_run(request_, std::chrono::seconds(static_cast<int64_t>(*expected)));
    if (expected_->total() < kWorthSaying) return;
    progress_.announce("this run takes " + run_time_words(*expected_));
  }

  // The control run shows how long the workload takes here.
  void fit_to_control_run() {
    if (!control_time_) return;
    if (const auto left = time_left()) {
      for (const std::string& change :
           fit_run(request_, *control_time_, *left, Recording::collector)) {
        note_time_limit(change);
      }
      recordings_ = count_recordings(request_);
    }
    const RunTime now = estimate_run(request_, *control_time_);
    const bool as_expected =
        expected_ && abs(now.total() - expected_->total()) * kClose <= expected_->total();
    if (as_expected || now.total() < kWorthSaying) return;
    progress_.announce(fmt::format("the control run took {}, so this run takes {}",
                                   duration_words(*control_time_), run_time_words(now)));
  }

  // None without a limit; never negative.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_left() const {
    if (!options_.time_limit) return std::nullopt;
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
    return std::max(std::chrono::milliseconds(0), *options_.time_limit - spent);
  }

  void note_time_limit(const std::string& change) {
    progress_.announce(change);
    notes_.info("time_limit", change);
    record_captures();
  }

  bool control() {
    begin_recording("control run: the workload, unprofiled");
    const auto done = run_control(request_, bundle_);
    if (!done) {
      fail_backend("stage1", done.error());
      return false;
    }
    if (done->failure) {
      fail_backend("stage1", *done->failure);
    } else {
      control_time_ = std::chrono::duration_cast<std::chrono::milliseconds>(done->duration);
    }
    return true;
  }

  void collect() {
    if (stopped()) return;
    begin_recording("collector: the workload, recorded by llmprof");
    const capture::CaptureResult captured = run_collector(request_, bundle_);
    keep("collector", captured);
    if (!captures_.collector_cuda || stopped()) return;
    const LogContents contents = contents_of_logs();
    recorded_gpu_ = contents.gpu_work > 0;
    if (!recorded_gpu_ && !captured.failure) {
      fail_backend("collector", no_gpu_work(contents, options_.collector));
    }
    if (recorded_gpu_ && !captured.failure) time_driver_calls(contents);
  }

  // Times a program without tracing if its launches cannot be intercepted.
  void time_driver_calls(const LogContents& contents) {
    const Switch wanted = options_.pipeline.driver_calls;
    if (wanted == Switch::off || stopped()) return;
    if (wanted == Switch::automatic && !interceptor_is_blind(contents)) return;
    if (wanted == Switch::automatic) ++recordings_;
    begin_recording(
        wanted == Switch::on
            ? "driver calls: the workload, not traced; the driver reports its launches"
            : "driver calls: the workload, not traced; the program launches past the CUDA "
              "runtime's shared library, so the driver reports its launches "
              "(pipeline.driver_calls.enable=false skips this run)");
    keep("driver_calls", run_driver_calls(request_, bundle_));
  }

  // Keeps what the analysis reads anyway. It analyzes a job's ranks one after the other, so their
  // logs are not held together here either.
  LogContents contents_of_logs() {
    if (count_ranks(rank_logs(bundle_.path("collector"))) < 2) {
      read_captures(RunRole::log);
      return log_contents(reading_.trace());
    }
    LogContents contents;
    for (const Input& log : inputs_of(RunRole::log)) {
      Reading one;
      OutputFolder out(bundle_.root(), true);
      one.add({log}, out, progress_);
      contents = log_contents(one.trace());
      if (contents.gpu_work > 0) break;
    }
    return contents;
  }

  void trace() {
    if (stopped()) return;
    const auto nsys = capture::ensure_tool(capture::Tool::nsys, capture::tool_search_here());
    if (!nsys && !captures_.nsys) return;  // report the collector's failure instead
    if (!nsys) return fail_backend("nsys", nsys.error());
    if (const auto made = attempt([&] { bundle_.make_folder(kNsysAnnotations); }); !made) {
      return fail_backend("nsys", made.error());
    }
    if (!captures_.nsys) ++recordings_;
    begin_recording(fmt::format("nsys {}: the timeline", nsys->version));
    const capture::CaptureResult captured =
        capture::capture_with_nsys(*nsys, nsys_request(request_, bundle_));
    keep("nsys", captured);
    // A range that opens again starts another report: run.sqlite, run.2.sqlite, ...
    std::vector<fs::path> exports;
    bool scrubbed = true;
    for (const fs::path& file : captured.files) {
      if (file.extension() != ".sqlite") continue;
      exports.push_back(bundle_.path(file.string()));
      scrubbed = scrub(exports.back()) && scrubbed;
    }
    const auto& kinds = options_.nsys.trace;
    const bool expects_kernels =
        options_.workload.uses_cuda && std::ranges::find(kinds, "cuda") != kinds.end();
    if (scrubbed && !captured.failure && expects_kernels &&
        std::ranges::none_of(exports, readers::holds_gpu_kernels)) {
      fail_backend("nsys", zero_kernels(options_.nsys));
    }
  }

  // nsys stores the program's entire environment.
  bool scrub(const fs::path& exported) {
    const auto scrubbed =
        capture::scrub_environment(exported, recorded_variables(request_.engines));
    if (scrubbed) return true;
    remove_file(exported);
    fail_backend("nsys", scrubbed.error());
    return false;
  }

  void measure_kernels() {
    if (stopped()) return;
    const auto ncu = capture::ensure_tool(capture::Tool::ncu, capture::tool_search_here());
    if (!ncu) return fail_backend("ncu", ncu.error());
    capture::NcuRequest wanted = ncu_request(request_, bundle_);
    wanted.workload_time = control_time_;
    wanted.interrupted = interrupted_ncu_capture(bundle_.root());
    read_captures(RunRole::log);
    read_captures(RunRole::nsys);
    progress_.begin("ncu: choosing the kernels to measure");
    wanted.kernels =
        select_top_kernels(reading_, request_.arguments.config_folder, options_.top_n_kernels);
    limit_ncu(wanted);
    for (const std::string& note : capture::plan_ncu(*ncu, wanted).notes) {
      progress_.note("ncu: " + note);
    }
    begin_recording(fmt::format("ncu {}: the longest kernels", ncu->version));
    keep("ncu", capture::capture_with_ncu(*ncu, wanted));
  }

  // Leaves time for torch.profiler, which follows.
  void limit_ncu(capture::NcuRequest& wanted) const {
    const auto left = time_left();
    if (!left) return;
    wanted.until = Clock::now() + std::max(std::chrono::milliseconds(0), *left - torch_time());
  }

  [[nodiscard]] std::chrono::milliseconds torch_time() const {
    return estimate_run(request_, control_time_.value_or(kUnknownTime))[Recording::torch_profiler];
  }

  // Whether earlier recordings left too little time for torch.profiler.
  bool is_too_late_for_operators() {
    const auto left = time_left();
    const auto takes = torch_time();
    if (!left || takes <= *left + takes / kClose) return false;
    note_time_limit(fmt::format(
        "torch.profiler is skipped: it takes about {}, and {} of the time limit are left",
        duration_words(takes), duration_words(*left)));
    return true;
  }

  void trace_operators() {
    if (stopped() || is_too_late_for_operators()) return;
    begin_recording("torch.profiler: the operators of the workload");
    keep("torch", run_torch(request_, bundle_));
  }

  void keep(std::string_view backend, const capture::CaptureResult& result) {
    notes_.merge(result.notes);
    record_captures();
    if (result.failure) fail_backend(backend, *result.failure);
  }

  void fail_backend(std::string_view backend, const Error& error) {
    progress_.note(fmt::format("{}: {}", backend, error.message));
    outcome_.failures.push_back({std::string(backend), error.message});
    record_captures();
  }

  // Written at once, so that it survives a crash. A full disk is reported elsewhere.
  void record_captures() const {
    std::ignore = attempt([&] { write_captures_record(bundle_, {outcome_.failures, notes_}); });
  }

  // Reads captures of one kind as soon as they are needed; the analysis at the end reads the rest.
  void read_captures(RunRole role) {
    OutputFolder out(bundle_.root(), true);
    reading_.add(inputs_of(role), out, progress_);
  }

  // Empty if nothing was captured so far.
  [[nodiscard]] std::vector<Input> inputs_of(RunRole role) const {
    const std::vector<fs::path> folder = {bundle_.root()};
    Diagnostics said_by_the_analysis;
    auto inputs = attempt([&] {
                    return expand_inputs(folder, said_by_the_analysis);
                  }).value_or(std::vector<Input>());
    std::erase_if(inputs, [&](const Input& input) { return input.role != role; });
    return inputs;
  }

  void analyze_bundle(const fs::path& folder) {
    progress_.set_pass(0, 0);
    AnalyzeOptions wanted;
    wanted.inputs = {folder};
    wanted.in_place = true;
    wanted.config_folder = request_.arguments.config_folder;
    wanted.exports = request_.arguments.exports;
    auto analysis = analyze(wanted, progress_, std::move(reading_));
    if (analysis) {
      outcome_.analysis = std::move(*analysis);
    } else {
      outcome_.not_analyzed = analysis.error();
    }
  }

  RunRequest& request_;
  const RunOptions& options_;
  const Captures& captures_;
  Artifacts bundle_;
  Progress& progress_;
  size_t recording_ = 0;  // the last one that started
  size_t recordings_;
  Clock::time_point begin_ = Clock::now();
  std::optional<RunTime> expected_;  // estimated before the control run
  std::optional<std::chrono::milliseconds> control_time_;
  bool recorded_gpu_ = false;  // by the collector
  Reading reading_;            // captures that the run itself reads
  Diagnostics notes_;
  RunOutcome outcome_;
};

}  // namespace

Result<RunOutcome> run(const RunRequest& asked, Progress& progress) {
  RunRequest request = asked;
  RunOptions& options = request.options;
  return attempt([&] {
    RunFolder folder =
        request.rank ? create_rank_root(*request.rank, options.run_folder, request.arguments.force)
                     : create_stage2_root(options.stage2_folder, options.run_folder,
                                          request.arguments.force);
    const Artifacts& bundle = folder.bundle;
    if (options.change_folder) options.workload.working_folder = fs::absolute(bundle.root());
    write_provenance(request.config, options, request.engines, bundle);
    RunOutcome outcome = Pipeline(request, bundle, progress).run();
    outcome.earlier = std::move(folder.earlier);
    return outcome;
  });
}

}  // namespace llmprof::session
