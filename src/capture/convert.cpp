#include "capture/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <span>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;
using namespace std::string_view_literals;

// As nsys 2022.4 and 2025.3 and ncu 2022.3 and 2025.3 write them.
constexpr std::string_view kNsysReportMagic = "NVIDIA Tegra Profiler Report ";
constexpr std::string_view kNsysStreamMagic = "NVIDIA Nsight Systems Stream ";  // after 8 bytes
constexpr std::string_view kNcuReportMagic = "NVR\0"sv;
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kSqliteMagic = "SQLite format 3\0"sv;

// A raw-page CSV starts with its header, after warnings at most.
constexpr size_t kNcuHeaderReach = 1UL << 20U;
constexpr size_t kHeadBytes = 128;

struct KindOfReport {
  std::string_view name;                 // for people
  std::string_view extension;            // of its usual name
  std::string_view extension_of_before;  // of older versions
  std::string_view magic;
  size_t reach;  // the magic is within this many first bytes
};
constexpr std::array<KindOfReport, 3> kKinds = {{
    {"an Nsight Systems report", ".nsys-rep", ".qdrep", kNsysReportMagic, kNsysReportMagic.size()},
    {"an Nsight Systems stream that has not been imported yet", ".qdstrm", "", kNsysStreamMagic,
     64},
    {"an Nsight Compute report", ".ncu-rep", "", kNcuReportMagic, kNcuReportMagic.size()},
}};
const KindOfReport& about(ReportKind kind) { return kKinds.at(static_cast<size_t>(kind)); }

std::string stream_version(std::string_view head) {
  const size_t magic = head.find(kNsysStreamMagic);
  if (magic == std::string_view::npos) return {};
  const std::string_view rest = head.substr(magic + kNsysStreamMagic.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

// Scratch space in the output folder, removed after the conversion. It is also the tools' working
// folder and HOME, because they leave caches there.
class WorkFolder {
 public:
  static Result<WorkFolder> make(const path& parent) {
    std::error_code status;
    std::filesystem::create_directories(parent, status);
    if (status) return fail_with(system_error(ErrorKind::tool, parent, status.value()));
    const path absolute = std::filesystem::absolute(parent, status);
    std::string name = (absolute / ".convert-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      return fail_with(system_error(ErrorKind::tool, parent, errno).within("cannot write"));
    }
    return WorkFolder(name);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code status;
    if (!path_.empty()) std::filesystem::remove_all(path_, status);
  }

  [[nodiscard]] path operator/(std::string_view name) const { return path_ / name; }
  [[nodiscard]] const path& where() const { return path_; }

 private:
  explicit WorkFolder(path where) : path_(std::move(where)) {}
  path path_;
};

// One run of a tool, from a file to another in the work folder.
struct Step {
  Tool tool;
  std::string_view name;
  std::string_view arguments;  // "FROM" stands for the file
  std::string_view made;
  bool (*is_good)(const path& made);
};
constexpr Step kImport = {Tool::qdstrm_importer, "import", "-i FROM -o imported.nsys-rep",
                          "imported.nsys-rep",
                          [](const path& made) { return !file_part(made, 0, 1).empty(); }};
constexpr Step kExport = {
    Tool::nsys, "export",
    "export --type sqlite --output exported.sqlite --force-overwrite true FROM", "exported.sqlite",
    [](const path& made) { return file_part(made, 0, kSqliteMagic.size()) == kSqliteMagic; }};
constexpr Step kPrintRawPage = {Tool::ncu, "raw", "--import FROM --page raw --csv", "raw.csv",
                                [](const path& made) {
                                  const std::string head = file_part(made, 0, kNcuHeaderReach);
                                  return head.starts_with("\"ID\",") || contains(head, "\n\"ID\",");
                                }};

std::string file_word(const path& file) {
  std::string name = file.string();
  if (name.starts_with('-')) name = "./" + name;
  return shell_word(name);
}

// Next to the report, and never the report itself.
path sibling(const path& report, std::string_view extension) {
  path file = report;
  file.replace_extension(extension);
  if (file == report) file += extension;
  return file;
}

std::string indented(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

Error missing_tool(const path& report, ReportKind kind, Tool missing,
                   std::string_view maker_version) {
  const std::string_view name = tool_name(missing);
  std::string message = fmt::format(
      "{}: {}, which only {} can read; it was found neither on PATH nor in the usual places. "
      "Convert it where it is installed, then analyze the result:{}\n{} If it is installed "
      "elsewhere, set {} to its path.",
      report.string(), about(kind).name, name, indented(conversion_commands(report, kind)),
      where_to_get(missing), tool_variable(missing));
  if (missing == Tool::qdstrm_importer && !maker_version.empty()) {
    message += fmt::format(" It must be of the version that wrote the stream: {}.", maker_version);
  }
  return {ErrorKind::input, std::move(message)};
}

Error failed_tool(const path& report, ReportKind kind, Tool tool, const path& executable,
                  std::string_view how, std::string_view output) {
  return {ErrorKind::tool,
          fmt::format("{}: {} could not convert it: {}; {}. The file may be damaged or unfinished, "
                      "or of another version than this tool: set {} to the one that made it, or "
                      "convert it there:{}",
                      report.string(), executable.string(), how, printed_words(output),
                      tool_variable(tool), indented(conversion_commands(report, kind)))};
}

// One report on its way through the tools.
class Conversion {
 public:
  Conversion(const path& report, ReportKind kind, const ConversionOptions& options,
             const WorkFolder& work)
      : report_(report), kind_(kind), options_(options), work_(work) {}

  // The tools see the report under our own name: it may be in a read-only folder, its name may look
  // like an option, and QdstrmImporter appends to the file that it imports.
  [[nodiscard]] Result<void> place_report(const std::string& name) const {
    std::error_code status;
    const path source = std::filesystem::absolute(report_, status);
    if (kind_ != ReportKind::nsys_stream) {
      std::filesystem::create_symlink(source, work_ / name, status);
      if (!status) return {};
    }
    std::filesystem::copy_file(source, work_ / name, status);
    if (status) {
      return fail_with(system_error(ErrorKind::tool, work_ / name, status.value())
                           .within(fmt::format("{}: cannot copy it to", report_.string())));
    }
    std::filesystem::permissions(work_ / name, std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add, status);
    return {};
  }

  // A tool refuses reports of other versions, so each installation is tried.
  [[nodiscard]] Result<path> run(const Step& step, const std::vector<path>& installations,
                                 const std::string& from) const {
    std::optional<Error> first_failure;
    const path made = work_ / step.made;
    for (const path& executable : installations) {
      std::error_code status;
      std::filesystem::remove(made, status);
      const auto ended = run_once(step, executable, from);
      if (!ended) return fail_with(ended.error());
      if (ended->succeeded() && step.is_good(made)) return made;
      std::string how = describe_end(*ended);
      if (ended->succeeded()) how = "it reported success but left no usable output";
      std::string said = ended->output_tail;
      // ncu writes errors to the same file as its data.
      if (step.tool == Tool::ncu) said += "\n" + file_part(made, -4096, 4096);
      if (!first_failure) {
        first_failure = failed_tool(report_, kind_, step.tool, executable, how, said);
      }
      if (ended->end == ProcessEnd::timed_out || ended->end == ProcessEnd::stopped) break;
    }
    return fail_with(first_failure.value_or(Error{ErrorKind::internal, "no tool to run"}));
  }

 private:
  [[nodiscard]] Result<ProcessResult> run_once(const Step& step, const path& executable,
                                               const std::string& from) const {
    Command command;
    command.argv = {executable.string()};
    for (const std::string_view word : split(step.arguments, ' ')) {
      command.argv.emplace_back(word == "FROM" ? from : word);
    }
    // The locale determines how ncu writes numbers, and the tools abort if it is unknown.
    command.environment = {{"HOME", work_.where().string()}, {"LC_ALL", "C"}};
    command.working_folder = work_.where();
    if (step.tool == Tool::ncu) command.stdout_file = work_ / step.made;
    command.timeout = options_.timeout;
    command.grace = options_.grace;
    command.stop = options_.stop;
    if (options_.run) return options_.run(step.name, std::move(command));
    return run_process(command);
  }

  const path& report_;
  ReportKind kind_;
  const ConversionOptions& options_;
  const WorkFolder& work_;
};

// Gives the result its final name without ever replacing a file.
Result<path> settle(const path& made, const path& folder, const path& stem,
                    std::string_view suffix) {
  for (int number = 1; number < 10000; ++number) {
    path target = folder / stem;
    target += number == 1 ? std::string(suffix) : fmt::format("-{}{}", number, suffix);
    if (::link(made.c_str(), target.c_str()) == 0) return target;
    if (errno == EEXIST) continue;
    // For file systems without hard links.
    std::error_code status;
    if (std::filesystem::exists(std::filesystem::symlink_status(target, status))) continue;
    std::filesystem::rename(made, target, status);
    if (!status) return target;
    return fail_with(system_error(ErrorKind::tool, target, status.value()).within("cannot write"));
  }
  return fail(ErrorKind::tool, fmt::format("{}: too many conversions of {} exist already",
                                           folder.string(), stem.string()));
}

// The report's first bytes, or why no tool could read it.
Result<std::string> head_of_report(const path& report, ReportKind kind) {
  std::error_code status;
  const auto size = std::filesystem::file_size(report, status);
  if (status) return fail_with(system_error(ErrorKind::input, report, status.value()));
  if (size == 0) {
    return fail_input(fmt::format(
        "{}: the file is empty: the recording did not finish; record again", report.string()));
  }
  std::string head = file_part(report, 0, kHeadBytes);
  if (head.empty()) return fail_with(system_error(ErrorKind::input, report, EACCES));
  if (head.starts_with(kGzipMagic)) {
    return fail_input(fmt::format("{}: {}, compressed with gzip; decompress it first (gunzip)",
                                  report.string(), about(kind).name));
  }
  return head;
}

Result<path> convert(const path& report, ReportKind kind, std::span<const Step> steps,
                     std::string_view suffix, const path& output_folder,
                     const ConversionOptions& options) {
  const auto head = head_of_report(report, kind);
  if (!head) return fail_with(head.error());
  std::vector<std::vector<path>> installations;
  for (const Step& step : steps) {
    auto found = find_tool(step.tool, options.search);
    if (!found) return fail_with(found.error());
    if (found->empty()) {
      return fail_with(missing_tool(report, kind, step.tool, stream_version(*head)));
    }
    installations.push_back(std::move(*found));
  }
  const auto work = WorkFolder::make(output_folder);
  if (!work) return fail_with(work.error());
  const Conversion conversion(report, kind, options, *work);
  std::string from = fmt::format("input{}", about(kind).extension);
  if (auto placed = conversion.place_report(from); !placed) return fail_with(placed.error());
  path made;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto ran = conversion.run(steps[i], installations[i], from);
    if (!ran) return fail_with(ran.error());
    made = *ran;
    from = steps[i].made;
  }
  return settle(made, output_folder, report.stem(), suffix);
}

}  // namespace

std::vector<std::string> conversion_commands(const path& report, ReportKind kind) {
  const auto exporting = [](const path& from) {
    return fmt::format("nsys export --type sqlite --output {} {}",
                       file_word(sibling(from, ".sqlite")), file_word(from));
  };
  switch (kind) {
    case ReportKind::nsys_report:
      return {exporting(report)};
    case ReportKind::nsys_stream: {
      const path imported = sibling(report, ".nsys-rep");
      return {fmt::format("QdstrmImporter -i {} -o {}", file_word(report), file_word(imported)),
              exporting(imported)};
    }
    case ReportKind::ncu_report:
      return {fmt::format("ncu --import {} --page raw --csv > {}", file_word(report),
                          file_word(sibling(report, ".csv")))};
  }
  return {};
}

std::optional<ReportKind> report_kind(const path& file, std::string_view head) {
  const std::string extension = file.extension().string();
  const auto first_that = [](const auto& fits) -> std::optional<ReportKind> {
    const auto* kind = std::ranges::find_if(kKinds, fits);
    if (kind == kKinds.end()) return std::nullopt;
    return static_cast<ReportKind>(kind - kKinds.begin());
  };
  const auto by_content = first_that(
      [&](const KindOfReport& kind) { return contains(head.substr(0, kind.reach), kind.magic); });
  if (by_content || extension.empty()) return by_content;
  return first_that([&](const KindOfReport& kind) {
    return equals_ignoring_case(extension, kind.extension) ||
           equals_ignoring_case(extension, kind.extension_of_before);
  });
}

Result<path> convert_report(const path& report, ReportKind kind, const path& output_folder,
                            const ConversionOptions& options) {
  if (kind == ReportKind::ncu_report) {
    return convert(report, kind, {&kPrintRawPage, 1}, "_raw.csv", output_folder, options);
  }
  constexpr std::array kSteps = {kImport, kExport};
  const std::span<const Step> steps(kSteps);
  return convert(report, kind, kind == ReportKind::nsys_stream ? steps : steps.subspan(1),
                 ".sqlite", output_folder, options);
}

Result<path> import_nsys_stream(const path& stream, const path& output_folder,
                                const ConversionOptions& options) {
  return convert(stream, ReportKind::nsys_stream, {&kImport, 1}, ".nsys-rep", output_folder,
                 options);
}

}  // namespace llmprof::capture
