#include "capture/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "base/files.h"
#include "base/needed.h"
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
path make_work_folder(const path& parent) {
  std::error_code status;
  std::filesystem::create_directories(parent, status);
  if (status) throw Failure(system_error(ErrorKind::tool, parent, status.value()));
  path made = ScratchFolder::make(parent, ".convert-");
  if (!made.empty()) return made;
  throw Failure(system_error(ErrorKind::tool, parent, errno).within("cannot write"));
}

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

// Gives the result its final name without ever replacing a file.
path settle(const path& made, const path& folder, const path& stem, std::string_view suffix) {
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
    throw Failure(system_error(ErrorKind::tool, target, status.value()).within("cannot write"));
  }
  give_up(ErrorKind::tool, fmt::format("{}: too many conversions of {} exist already",
                                       folder.string(), stem.string()));
}

// One report on its way through the tools; errors are thrown (base/needed.h).
class Conversion {
 public:
  Conversion(const path& report, ReportKind kind, const ConversionOptions& options)
      : report_(report), kind_(kind), options_(options) {}

  // Under the report's name and this suffix.
  [[nodiscard]] path run(std::span<const Step> steps, std::string_view suffix,
                         const path& output_folder) const {
    const std::string head = head_of_report();
    std::vector<std::vector<path>> installations;
    for (const Step& step : steps) {
      installations.push_back(needed(find_tool(step.tool, options_.search)));
      if (installations.back().empty()) refuse_without(step.tool, stream_version(head));
    }
    const ScratchFolder work(make_work_folder(output_folder));
    std::string from = fmt::format("input{}", about(kind_).extension);
    place_report(work.path() / from);
    path made;
    for (size_t i = 0; i < steps.size(); ++i) {
      made = run_step(steps[i], installations[i], from, work);
      from = steps[i].made;
    }
    return settle(made, output_folder, report_.stem(), suffix);
  }

 private:
  // The report's first bytes, unless no tool could read it.
  [[nodiscard]] std::string head_of_report() const {
    std::error_code status;
    const auto size = std::filesystem::file_size(report_, status);
    if (status) throw Failure(system_error(ErrorKind::input, report_, status.value()));
    if (size == 0) {
      give_up(ErrorKind::input,
              fmt::format("{}: the file is empty: the recording did not finish; record again",
                          report_.string()));
    }
    std::string head = file_part(report_, 0, kHeadBytes);
    if (head.empty()) throw Failure(system_error(ErrorKind::input, report_, EACCES));
    if (head.starts_with(kGzipMagic)) {
      give_up(ErrorKind::input,
              fmt::format("{}: {}, compressed with gzip; decompress it first (gunzip)",
                          report_.string(), about(kind_).name));
    }
    return head;
  }

  [[noreturn]] void refuse_without(Tool missing, std::string_view maker_version) const {
    std::string message = fmt::format(
        "{}: {}, which only {} can read; it was found neither on PATH nor in the usual places. "
        "Convert it where it is installed, then analyze the result:{}\n{} If it is installed "
        "elsewhere, set {} to its path.",
        report_.string(), about(kind_).name, tool_name(missing), commands(), where_to_get(missing),
        tool_variable(missing));
    if (missing == Tool::qdstrm_importer && !maker_version.empty()) {
      message +=
          fmt::format(" It must be of the version that wrote the stream: {}.", maker_version);
    }
    give_up(ErrorKind::input, std::move(message));
  }

  // The tools see the report under our own name: it may be in a read-only folder, its name may look
  // like an option, and QdstrmImporter appends to the file that it imports.
  void place_report(const path& place) const {
    std::error_code status;
    const path source = std::filesystem::absolute(report_, status);
    if (kind_ != ReportKind::nsys_stream) {
      std::filesystem::create_symlink(source, place, status);
      if (!status) return;
    }
    std::filesystem::copy_file(source, place, status);
    if (status) {
      throw Failure(system_error(ErrorKind::tool, place, status.value())
                        .within(fmt::format("{}: cannot copy it to", report_.string())));
    }
    std::filesystem::permissions(place, std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add, status);
  }

  // A tool refuses reports of other versions, so each installation is tried.
  [[nodiscard]] path run_step(const Step& step, const std::vector<path>& installations,
                              const std::string& from, const ScratchFolder& work) const {
    std::optional<std::string> first_failure;
    path made = work.path() / step.made;
    for (const path& executable : installations) {
      remove_file(made);
      const ProcessResult ended = run_once(step, executable, from, work);
      if (ended.succeeded() && step.is_good(made)) return made;
      std::string said = ended.output_tail;
      // ncu writes errors to the same file as its data.
      if (step.tool == Tool::ncu) said += "\n" + file_part(made, -4096, 4096);
      if (!first_failure) {
        first_failure = fmt::format(
            "{}: {} could not convert it: {}; {}. The file may be damaged or unfinished, or of "
            "another version than this tool: set {} to the one that made it, or convert it "
            "there:{}",
            report_.string(), executable.string(),
            ended.succeeded() ? "it reported success but left no usable output"
                              : describe_end(ended),
            printed_words(said), tool_variable(step.tool), commands());
      }
      if (ended.end == ProcessEnd::timed_out || ended.end == ProcessEnd::stopped) break;
    }
    give_up(ErrorKind::tool, *first_failure);
  }

  [[nodiscard]] ProcessResult run_once(const Step& step, const path& executable,
                                       const std::string& from, const ScratchFolder& work) const {
    Command command;
    command.argv = {executable.string()};
    for (const std::string_view word : split(step.arguments, ' ')) {
      command.argv.emplace_back(word == "FROM" ? from : word);
    }
    // The locale determines how ncu writes numbers, and the tools abort if it is unknown.
    command.environment = {{"HOME", work.path().string()}, {"LC_ALL", "C"}};
    command.working_folder = work.path();
    if (step.tool == Tool::ncu) command.stdout_file = work.path() / step.made;
    command.timeout = options_.timeout;
    command.grace = options_.grace;
    command.stop = options_.stop;
    return needed(options_.run ? options_.run(step.name, std::move(command))
                               : run_process(command));
  }

  // To convert it by hand, one per line.
  [[nodiscard]] std::string commands() const {
    return fmt::format("\n  {}", fmt::join(conversion_commands(report_, kind_), "\n  "));
  }

  const path& report_;
  ReportKind kind_;
  const ConversionOptions& options_;
};

Result<path> convert(const path& report, ReportKind kind, std::span<const Step> steps,
                     std::string_view suffix, const path& output_folder,
                     const ConversionOptions& options) {
  return attempt(
      [&] { return Conversion(report, kind, options).run(steps, suffix, output_folder); });
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
