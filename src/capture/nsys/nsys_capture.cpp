#include "capture/nsys/nsys_capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "capture/convert.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

// When asked to stop, nsys ends the workload and writes its report, which takes longer than the
// usual grace.
constexpr std::chrono::seconds kReportGrace(30);
constexpr std::chrono::minutes kStatsTime(30);
constexpr size_t kReportHeadBytes = 64;

std::string head_of(const path& file) { return file_part(file, 0, kReportHeadBytes); }

std::vector<path> files_in(const path& folder) {
  std::vector<path> files = entries_of(folder);
  std::erase_if(files, [](const path& file) { return !is_file(file); });
  std::ranges::sort(files);
  return files;
}

bool is_report_name(const path& file) {
  const std::string extension = file.extension().string();
  return extension == ".nsys-rep" || extension == ".qdrep" || extension == ".qdstrm";
}

bool is_product(const path& file) {
  const std::string name = file.filename().string();
  return (name.starts_with("run.") && (is_report_name(file) || file.extension() == ".sqlite")) ||
         (name.starts_with("summary_") && file.extension() == ".csv");
}

// One capture, from the first attempt to the statistics.
class NsysCapture {
 public:
  NsysCapture(const InstalledTool& nsys, const NsysRequest& request)
      : nsys_(nsys), request_(request) {
    request_.bundle = absolute_path(request.bundle);
    request_.limits.grace = std::max<std::chrono::milliseconds>(request.limits.grace, kReportGrace);
    folder_ = request_.bundle / "nsys";
    work_ = folder_ / "partial.tmp";
  }

  CaptureResult run() {
    if (auto made = prepare(); !made) {
      result_.failure = made.error();
      return std::move(result_);
    }
    profile();
    settle_reports();
    const bool is_stopped = request_.limits.stop != nullptr && request_.limits.stop->load();
    if (!is_stopped) {
      convert_reports();
      write_statistics();
    }
    std::error_code status;
    std::filesystem::remove_all(work_, status);
    for (const path& file : files_in(folder_)) {
      result_.files.push_back(file.lexically_relative(request_.bundle));
    }
    return std::move(result_);
  }

 private:
  // Files of an earlier capture would be taken for this one's.
  Result<void> prepare() {
    if (auto made = make_own_folder(folder_); !made) return made;
    std::error_code status;
    for (const path& file : files_in(folder_)) {
      if (!status && is_product(file)) std::filesystem::remove(file, status);
    }
    if (status) {
      return fail_with(
          system_error(ErrorKind::tool, folder_, status.value()).within("cannot write"));
    }
    return {};
  }

  void profile() {
    std::vector<std::string> tried;
    for (const std::vector<std::string>& trace : nsys_trace_ladder(request_.options)) {
      tried.push_back(fmt::format("--trace={}", fmt::join(trace, ",")));
      const auto failure = attempt(trace);
      result_.failure.reset();
      if (failure) result_.failure = failure->error;
      if (!failure || !failure->is_nsys_own) break;
      result_.notes.warn("nsys_attempt_failed",
                         fmt::format("{}: {}", tried.back(), failure->error.message));
    }
    if (tried.size() == 1) return;
    if (result_.failure) {
      result_.failure->message +=
          fmt::format(". Tried without success: {}", fmt::join(tried, ", "));
    } else {
      result_.notes.warn("nsys_traced_less",
                         fmt::format("nsys failed at first and recorded with {} instead of {}",
                                     tried.back(), tried.front()));
    }
  }

  std::optional<NsysFailure> attempt(const std::vector<std::string>& trace) {
    std::error_code status;
    std::filesystem::remove_all(work_, status);
    std::filesystem::create_directories(work_, status);
    if (status) return NsysFailure{system_error(ErrorKind::tool, work_, status.value()), false};
    if (!request_.annotations.empty()) {
      for (const path& log : files_in(request_.annotations)) std::filesystem::remove(log, status);
    }
    auto record = record_workload(request_.workload, nsys_recording(nsys_, request_, trace, work_),
                                  request_.limits);
    if (!record) {
      keep_unusable("profile");
      return NsysFailure{record.error(), false};
    }
    auto failure = judge_nsys_attempt(request_, *record, output_of_attempt());
    keep_unusable(record->name);
    result_.commands.push_back(std::move(*record));
    return failure;
  }

  // Captures that a range restarts are numbered: run.1.nsys-rep.
  [[nodiscard]] std::vector<path> outputs() const {
    std::vector<path> found = files_in(work_);
    std::erase_if(found, [](const path& file) {
      return !file.filename().string().starts_with("run.") || !is_report_name(file);
    });
    return found;
  }

  static bool is_report(const path& file) {
    // By content alone: a file with such a name may be something else.
    return report_kind({}, head_of(file)).has_value();
  }

  [[nodiscard]] NsysOutput output_of_attempt() const {
    const std::vector<path> found = outputs();
    if (found.empty()) return NsysOutput::none;
    if (std::any_of(found.begin(), found.end(), is_report)) return NsysOutput::report;
    const bool has_content = std::any_of(found.begin(), found.end(),
                                         [](const path& file) { return !head_of(file).empty(); });
    return has_content ? NsysOutput::garbage : NsysOutput::empty;
  }

  // Everything that is not a complete report, including scratch files of an interrupted run.
  void keep_unusable(const std::string& name) {
    for (const path& file : files_in(work_)) {
      const std::string own = file.filename().string();
      const bool is_output = own.starts_with("run.") || own.starts_with("nsys-report-");
      const bool is_whole = own.starts_with("run.") && is_report(file);
      if (!is_output || is_whole || head_of(file).empty()) continue;
      std::error_code status;
      std::filesystem::rename(file, folder_ / fmt::format("{}-{}.unusable", name, own), status);
    }
  }

  // Moves the complete reports to their final names: run.*, run.2.*, ...
  void settle_reports() {
    for (const path& file : outputs()) {
      if (!is_report(file)) continue;
      const std::string stem =
          reports_.empty() ? "run" : fmt::format("run.{}", reports_.size() + 1);
      path target = folder_ / (stem + file.extension().string());
      std::error_code status;
      std::filesystem::rename(file, target, status);
      if (status) {
        fail_unless_failed(system_error(ErrorKind::tool, target, status.value()));
      } else {
        reports_.push_back(std::move(target));
      }
    }
    if (!reports_.empty()) {
      result_.notes.info("nsys_report_holds_environment",
                         "the Nsight Systems report in the bundle contains the command line and "
                         "all environment variables of the profiled run, and those of other "
                         "processes that ran on this machine; do not publish it");
    }
  }

  void convert_reports() {
    for (path& report : reports_) {
      if (report.extension() == ".qdstrm" && !import(report)) continue;
      const auto made = convert_report(report, ReportKind::nsys_report, folder_, conversion());
      if (made) {
        exports_.push_back(*made);
      } else {
        fail_unless_failed({ErrorKind::tool, made.error().message});
      }
    }
  }

  bool import(path& stream) {
    const auto made = import_nsys_stream(stream, folder_, conversion());
    if (!made) {
      fail_unless_failed({ErrorKind::tool, made.error().message});
      return false;
    }
    result_.notes.info("nsys_stream_imported",
                       "nsys did not import its recording; QdstrmImporter did");
    remove_file(stream);
    stream = *made;
    return true;
  }

  ConversionOptions conversion() {
    ConversionOptions options;
    options.search = request_.search;
    options.search.chosen[Tool::nsys] = nsys_.path;
    options.stop = request_.limits.stop;
    options.run = [this](std::string_view step, Command command) {
      return record(step, std::move(command));
    };
    return options;
  }

  Result<ProcessResult> record(std::string_view name, Command command) {
    auto ran = run_recorded(folder_, name, std::move(command));
    if (!ran) return fail_with(ran.error());
    result_.commands.push_back(*ran);
    return ran->result;
  }

  Command nsys_command(std::vector<std::string> arguments) {
    Command command;
    command.argv = {nsys_.path.string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = {{"HOME", work_.string()}, {"LC_ALL", "C"}};
    command.timeout = kStatsTime;
    command.output_tail_bytes = 1UL << 20U;  // the list of reports must be complete
    command.stop = request_.limits.stop;
    return command;
  }

  // Statistics are a convenience: the SQLite export contains the same data.
  void write_statistics() {
    if (exports_.empty()) return;
    std::error_code status;
    std::filesystem::create_directories(work_, status);
    const auto help = run_process(nsys_command({"stats", "--help-reports"}));
    const std::vector<std::string> reports =
        help ? choose_nsys_reports(help->output_tail) : std::vector<std::string>();
    if (reports.empty()) {
      result_.notes.warn("nsys_no_statistics",
                         "nsys stats offers no known report, so there are no summary_*.csv");
      return;
    }
    const auto ran = record(
        "stats", nsys_command({"stats", "--report", fmt::format("{}", fmt::join(reports, ",")),
                               "--format", "csv", "--output", (work_ / "summary").string(),
                               "--force-overwrite", "true", exports_.front().string()}));
    if (!ran || !ran->succeeded()) {
      result_.notes.warn("nsys_statistics_failed",
                         fmt::format("nsys stats failed: {}; see {}",
                                     ran ? describe_end(*ran) : ran.error().message,
                                     (folder_ / "stats.log").string()));
    }
    keep_statistics();
  }

  void keep_statistics() {
    for (const path& file : files_in(work_)) {
      std::error_code status;
      // A report without data is an empty file.
      if (!is_product(file) || head_of(file).empty()) continue;
      std::filesystem::rename(file, folder_ / file.filename(), status);
    }
  }

  void fail_unless_failed(Error error) {
    if (!result_.failure) {
      result_.failure = std::move(error);
    } else {
      result_.notes.error("nsys_conversion_failed", error.message);
    }
  }

  const InstalledTool& nsys_;
  NsysRequest request_;
  path folder_;
  path work_;
  std::vector<path> reports_;
  std::vector<path> exports_;
  CaptureResult result_;
};

}  // namespace

CapturePlan plan_nsys(const InstalledTool& nsys, const NsysRequest& request) {
  const path folder = request.bundle / "nsys";
  const auto ladder = nsys_trace_ladder(request.options);
  const WorkloadRecording recording =
      nsys_recording(nsys, request, ladder.front(), folder / "partial.tmp");
  CapturePlan plan;
  plan.backend = "nsys";
  PlannedCommand profile{recording.name, recording.wrapper, recording.environment};
  profile.argv.insert(profile.argv.end(), request.workload.argv.begin(),
                      request.workload.argv.end());
  plan.commands.push_back(std::move(profile));
  if (request.workload.server) {
    if (!request.workload.server->warm_up.empty()) {
      plan.commands.push_back({"profile-warm_up", request.workload.server->warm_up, {}});
    }
    plan.commands.push_back({"profile-client", request.workload.server->client, {}});
  }
  const std::string nsys_path = nsys.path.string();
  const std::string sqlite = (folder / "run.sqlite").string();
  plan.commands.push_back({"export",
                           {nsys_path, "export", "--type", "sqlite", "--output", sqlite,
                            "--force-overwrite", "true", (folder / "run.nsys-rep").string()},
                           {}});
  plan.commands.push_back({"stats",
                           {nsys_path, "stats", "--report", "...", "--format", "csv", "--output",
                            (folder / "summary").string(), "--force-overwrite", "true", sqlite},
                           {}});
  plan.files = {"nsys/run.nsys-rep", "nsys/run.sqlite", "nsys/summary_*.csv",
                "nsys/profile.log",  "nsys/cmd.txt",    "nsys/status.json"};
  for (size_t i = 1; i < ladder.size(); ++i) {
    plan.notes.push_back(
        fmt::format("if nsys fails: again with --trace={}", fmt::join(ladder[i], ",")));
  }
  if (is_gated_by_nvtx(request.options)) {
    plan.notes.push_back(
        fmt::format("records only while the range {} is open", request.options.nvtx_capture));
  }
  return plan;
}

CaptureResult capture_with_nsys(const InstalledTool& nsys, const NsysRequest& request) {
  return NsysCapture(nsys, request).run();
}

}  // namespace llmprof::capture
