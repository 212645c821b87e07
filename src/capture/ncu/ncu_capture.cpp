#include "capture/ncu/ncu_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "capture/ncu/ncu_runs.h"

namespace llmprof::capture {
namespace {

constexpr size_t kNameCharacters = 100;  // of a kernel in a message
constexpr std::string_view kFinished = "finished.txt";

using std::filesystem::path;

// Exporting reads one file: it is slow only if something is wrong.
constexpr std::chrono::minutes kExportTime(15);

bool is_there(const path& file) {
  std::error_code status;
  return is_file(file) && std::filesystem::file_size(file, status) > 0;
}

// What one run measured, with the settings that worked.
struct NcuMeasurement {
  NcuRun run;
  RawTable table;
};

// The outcome of one attempt.
struct Attempt {
  CommandRecord record;
  NcuRunMessages messages;
};

class NcuCapture {
 public:
  NcuCapture(const InstalledTool& ncu, const NcuRequest& request, path folder)
      : ncu_(ncu),
        request_(request),
        options_(request.options),
        features_(ncu_features(ncu)),
        folder_(std::move(folder)),
        finished_(folder_ / kFinished) {}

  CaptureResult capture() {
    list_sections();
    for (const NcuRun& run : plan_ncu_runs(options_, request_.kernels, features_)) {
      if (is_stopped() || gave_up_) break;
      if (is_late()) {
        note_unmeasured(run);
        continue;
      }
      if (auto measured = measure(run)) {
        all_.add(measured->table);
        measure_lost_kernels(*measured);
      } else if (is_late()) {
        note_unmeasured(run);
      } else {
        fail_run(measured.error());
      }
    }
    write_union();
    if (!is_stopped() && !result_.failure) remove_file(folder_ / kFinished);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_stopped() const {
    return request_.limits.stop != nullptr && request_.limits.stop->load();
  }

  [[nodiscard]] bool is_late() const {
    return request_.until && std::chrono::steady_clock::now() >= *request_.until;
  }

  void note_unmeasured(const NcuRun& run) {
    result_.notes.info("ncu_time_limit",
                       fmt::format("{}: not measured by ncu, because of the time limit", run.name));
  }

  template <class... Values>
  void warn(std::string_view code, fmt::format_string<Values...> text, Values&&... values) {
    result_.notes.warn(code, fmt::format(text, std::forward<Values>(values)...));
  }
  void fail_run(Error error) {
    if (!result_.failure) result_.failure = std::move(error);
  }
  void add_file(const path& file) { result_.files.push_back(path("ncu") / file.filename()); }
  [[nodiscard]] path report_of(const NcuRun& run) const {
    return folder_ / (run.name + ".ncu-rep");
  }
  [[nodiscard]] path raw_of(const NcuRun& run) const { return folder_ / (run.name + "_raw.csv"); }

  // Everything that determines what a run measures: as planned, whatever worked in the end.
  [[nodiscard]] std::vector<std::string> identity(const NcuRun& run) const {
    auto words = build_ncu_cmd(ncu_, features_, request_.options, run, folder_ / run.name,
                               request_.workload.argv);
    words.push_back(ncu_.version);
    return words;
  }

  Result<NcuMeasurement> measure(const NcuRun& run) {
    if (auto before = resume(run)) return NcuMeasurement{run, std::move(*before)};
    return capture_run(run);
  }

  std::optional<RawTable> resume(const NcuRun& run) {
    if (!request_.interrupted) return std::nullopt;
    const path& from = *request_.interrupted;
    if (!FinishedRuns(from / kFinished).has(run.name, identity(run))) return std::nullopt;
    auto table = read_raw_table(from / raw_of(run).filename());
    if (!table) return std::nullopt;
    result_.notes.info("ncu_resumed",
                       fmt::format("{} was recorded by the same command in a run that was "
                                   "interrupted, so its recording was taken from {}",
                                   run.name, from.string()));
    std::error_code none;
    std::filesystem::copy_file(from / report_of(run).filename(), report_of(run), none);
    keep(run, *table);
    return std::move(*table);
  }

  Result<NcuMeasurement> capture_run(const NcuRun& planned) {
    NcuRun run = planned;
    auto attempt = profile_until_it_works(run);
    if (!attempt) return fail_with(attempt.error());
    auto table = is_there(report_of(run)) ? export_report(run) : capture_live(run);
    if (!table && is_there(report_of(run)) && !is_stopped()) {
      warn("ncu_live_csv",
           "{}: the report could not be exported ({}), so the program was profiled once more with "
           "ncu printing its table",
           run.name, table.error().message);
      const std::string unread = table.error().message;
      table = capture_live(run);
      if (!table) {
        return fail(ErrorKind::tool, fmt::format("{}; another run, to print it, failed too: {}",
                                                 unread, table.error().message));
      }
    }
    if (!table) return fail_with(table.error());
    keep(planned, *table);
    if (attempt->messages.program_exit_code && !attempt->record.asked_to_stop) {
      warn("ncu_workload_failed",
           "{}: the workload ended with exit code {} under ncu; what was measured until then is "
           "kept",
           run.name, *attempt->messages.program_exit_code);
    }
    return NcuMeasurement{std::move(run), std::move(*table)};
  }

  // When counting launches by shape, ncu loses kernels. One more run measures them, counted
  // plainly.
  void measure_lost_kernels(const NcuMeasurement& measured) {
    const std::vector<ChosenKernel> lost = unseen_kernels(measured.run, measured.table);
    if (lost.empty()) return;
    if (is_stopped() || is_late() || !loses_kernels(options_, measured.run)) {
      return note_unseen(measured.run, lost, "; ncu.launch_count=N measures more launches");
    }
    const NcuRun again = run_of_lost_kernels(measured.run, lost);
    auto found = measure(again);
    if (!found) {
      if (is_stopped()) fail_run(found.error());
      return note_unseen(again, lost, ", and a run for it alone failed: " + found.error().message);
    }
    // Kernels of the first run must not count twice, whatever else this one matched.
    found->table.leave_out(measured.table.kernel_names());
    if (!found->table.launches.empty()) all_.add(found->table);
    note_unseen(again, unseen_kernels(again, found->table),
                ", nor did a first run, with the stage's other kernels");
  }

  // Runs the workload under ncu, again without sections or a gate that failed. `run` is what
  // worked.
  Result<Attempt> profile_until_it_works(NcuRun& run) {
    while (true) {
      auto attempt = profile(run);
      if (!attempt) return attempt;
      const bool ended = attempt->record.result.end == ProcessEnd::exited;
      if (is_there(report_of(run))) return attempt;
      if (is_late()) return fail_with(failed_ncu_run(attempt->record, attempt->messages, run));
      if (ended && drop_unknown_sections(attempt->messages)) continue;
      if (ended && attempt->record.ended_well() && attempt->messages.nothing_profiled &&
          !run.nvtx_include.empty()) {
        run = without_gate(std::move(run), options_, features_);
        warn("ncu_not_gated",
             "{}: ncu saw no kernel inside the NVTX range, so the launches were chosen by counting "
             "instead ({})",
             run.name, describe_filter(run));
        continue;
      }
      // It profiled but kept no report: its table may still be printed.
      if (ended && attempt->messages.launches > 0 && attempt->messages.first_error.empty()) {
        return attempt;
      }
      gave_up_ = concerns_all_stages(attempt->record, attempt->messages);
      return fail_with(failed_ncu_run(attempt->record, attempt->messages, run));
    }
  }

  Result<Attempt> profile(const NcuRun& run) {
    // ncu writes next to the final name, so that a report is either complete or absent.
    const path aside = folder_ / (run.name + ".part");
    const path made = folder_ / (run.name + ".part.ncu-rep");
    remove_file(made);
    remove_file(report_of(run));
    WorkloadRecording recording{run.name, folder_,
                                build_ncu_cmd(ncu_, features_, options_, run, aside, {}),
                                request_.environment, end_when_enough(run)};
    auto record = record_workload(request_.workload, recording, request_.limits);
    if (!record) {
      remove_file(made);
      return fail_with(record.error().within("ncu, " + run.name));
    }
    const bool whole = record->result.end == ProcessEnd::exited || record->asked_to_stop;
    Attempt attempt{*record, read_ncu_messages(record->log)};
    result_.commands.push_back(std::move(*record));
    std::error_code status;
    if (whole && is_there(made)) std::filesystem::rename(made, report_of(run), status);
    remove_file(made);
    return attempt;
  }

  // Runs ncu without a workload, printing to a file.
  Result<CommandRecord> run_ncu(const std::string& name, std::vector<std::string> argv,
                                const path& output) {
    Command command;
    command.argv = std::move(argv);
    // The locale determines how ncu writes numbers.
    command.environment = {{"LC_ALL", "C"}};
    command.stdout_file = output;
    command.timeout = kExportTime;
    command.grace = request_.limits.grace;
    command.stop = request_.limits.stop;
    auto record = run_recorded(folder_, name, std::move(command));
    if (record) result_.commands.push_back(*record);
    return record;
  }

  // Most programs continue long after the wanted launches, and slowly under ncu.
  [[nodiscard]] decltype(WorkloadRecording::is_enough) end_when_enough(const NcuRun& run) const {
    const bool countable = options_.stop_when_measured && options_.replay_mode == "kernel";
    const auto wanted = countable ? run.expected_launches() : std::nullopt;
    if (!wanted && !request_.until) return {};
    return
        [wanted, until = request_.until, launches = MeasuredLaunches()](const path& log) mutable {
          const uint64_t measured = launches.count(log);
          if (wanted && measured >= *wanted) return true;
          return until && std::chrono::steady_clock::now() >= *until;
        };
  }

  bool drop_unknown_sections(const NcuRunMessages& messages) {
    bool dropped = false;
    for (const std::string& section : messages.unknown_sections) {
      if (std::erase(options_.sections, section) == 0) continue;
      dropped = true;
      warn(
          "ncu_no_such_section",
          "this ncu ({}) has no section {}, so it was skipped; ncu/sections.txt lists those it has",
          ncu_.version, section);
    }
    return dropped;
  }

  Result<RawTable> export_report(const NcuRun& run) {
    const path aside = folder_ / (run.name + "_raw.csv.part");
    const auto record = run_ncu(run.name + "-export",
                                build_ncu_import_cmd(ncu_, features_, run, report_of(run)), aside);
    if (!record) return fail_with(record.error());
    auto table = read_raw_table(aside);
    const NcuRunMessages messages = read_ncu_messages(aside);
    remove_file(aside);
    if (table && record->result.succeeded()) return table;
    const std::string said =
        messages.first_error.empty() ? "" : fmt::format(": {}", messages.first_error);
    return fail(ErrorKind::tool,
                fmt::format("ncu, {}: `ncu --import {}` gave no table ({}{})", run.name,
                            report_of(run).string(), describe_end(record->result), said));
  }

  // The fallback: another run of the workload, with ncu printing its table.
  Result<RawTable> capture_live(const NcuRun& run) {
    const path aside = folder_ / (run.name + "_live.part");
    const WorkloadRecording recording{run.name + "-live",
                                      folder_,
                                      build_ncu_live_cmd(ncu_, features_, options_, run, aside, {}),
                                      request_.environment,
                                      {}};
    const auto record = record_workload(request_.workload, recording, request_.limits);
    if (!record) return fail_with(record.error().within("ncu, " + run.name));
    result_.commands.push_back(*record);
    auto table = read_raw_table(aside);
    // If it ignores --log-file, the table is in the program's output.
    if (!table) table = read_raw_table(record->log);
    NcuRunMessages messages = read_ncu_messages(aside);
    if (messages.first_error.empty()) messages = read_ncu_messages(record->log);
    remove_file(aside);
    if (!table) return fail_with(failed_ncu_run(*record, messages, run));
    if (!is_there(report_of(run))) {
      warn("ncu_live_csv",
           "{}: ncu kept no report, so the program was profiled once more with ncu printing its "
           "table",
           run.name);
    }
    return table;
  }

  void keep(const NcuRun& run, const RawTable& table) {
    if (is_there(report_of(run))) add_file(report_of(run));
    if (auto written = write_file_atomically(raw_of(run), to_csv(table)); !written) {
      return fail_run(written.error());
    }
    add_file(raw_of(run));
    if (auto noted = finished_.add(run.name, identity(run)); !noted) fail_run(noted.error());
  }

  // The chosen kernels that were not measured.
  static std::vector<ChosenKernel> unseen_kernels(const NcuRun& run, const RawTable& table) {
    const std::vector<std::string> seen = table.kernel_names();
    std::vector<ChosenKernel> unseen = run.kernels;
    std::erase_if(unseen, [&](const ChosenKernel& kernel) {
      return std::any_of(seen.begin(), seen.end(), [&](const std::string& name) {
        return name == kernel.symbol || same_kernel_name(name, kernel.name);
      });
    });
    return unseen;
  }

  void note_unseen(const NcuRun& run, const std::vector<ChosenKernel>& kernels,
                   std::string_view why) {
    for (const ChosenKernel& kernel : kernels) {
      warn("ncu_kernel_not_seen", "{}: ncu measured no launch of {}, which the timeline chose{}",
           run.name, shortened(kernel.name, kNameCharacters), why);
    }
  }

  void list_sections() {
    const path aside = folder_ / "sections.txt.part";
    const auto record = run_ncu("list-sections", {ncu_.path.string(), "--list-sections"}, aside);
    if (!record) return fail_run(record.error());
    std::error_code status;
    if (record->result.succeeded() && is_there(aside)) {
      std::filesystem::rename(aside, folder_ / "sections.txt", status);
      if (!status) return add_file("sections.txt");
    }
    remove_file(aside);
    warn("ncu_no_section_list",
         "`ncu --list-sections` printed nothing ({}), so there is no sections.txt",
         describe_end(record->result));
  }

  void write_union() {
    if (all_.empty()) {
      if (is_stopped() && !result_.failure) {
        fail_run(
            {ErrorKind::tool, "ncu: the recording was interrupted before a stage was measured"});
      }
      return;
    }
    if (auto written = write_file_atomically(folder_ / "raw.csv", all_.to_csv()); !written) {
      return fail_run(written.error());
    }
    add_file("raw.csv");
  }

  const InstalledTool& ncu_;
  const NcuRequest& request_;
  NcuOptions options_;  // without sections that this ncu lacks
  NcuFeatures features_;
  path folder_;
  FinishedRuns finished_;
  RawUnion all_;
  bool gave_up_ = false;
  CaptureResult result_;
};

}  // namespace

CaptureResult capture_with_ncu(const InstalledTool& ncu, const NcuRequest& request) {
  const path folder = absolute_path(request.bundle / "ncu");
  if (auto made = make_own_folder(folder); !made) {
    CaptureResult result;
    result.failure = made.error();
    return result;
  }
  return NcuCapture(ncu, request, folder).capture();
}

}  // namespace llmprof::capture
