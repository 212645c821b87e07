#include "capture/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "capture/convert_advice.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;
using namespace std::string_view_literals;

// As nsys 2022.4 and 2025.3 and ncu 2022.3 and 2025.3 write them.
constexpr std::string_view kNsysReportMagic = "NVIDIA Tegra Profiler Report ";
constexpr std::string_view kNsysStreamMagic = "NVIDIA Nsight Systems Stream ";  // after 8 bytes
constexpr size_t kNsysStreamMagicReach = 64;
constexpr std::string_view kNcuReportMagic = "NVR\0"sv;
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kSqliteMagic = "SQLite format 3\0"sv;

// A raw-page CSV begins with its header, after warnings at most.
constexpr size_t kNcuHeaderReach = 1UL << 20U;
constexpr size_t kHeadBytes = 128;

constexpr const char* kImported = "imported.nsys-rep";
constexpr const char* kExported = "exported.sqlite";
constexpr const char* kRawPage = "raw.csv";

// At most `limit` bytes from `offset` on, or from that far before the end when it is negative.
std::string file_part(const path& file, std::streamoff offset, size_t limit) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  if (!stream || size <= 0) return {};
  stream.seekg(offset >= 0 ? offset : std::max<std::streamoff>(0, size + offset));
  std::string bytes(std::min(limit, static_cast<size_t>(size)), '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes;
}

std::string stream_version(std::string_view head) {
  const size_t magic = head.find(kNsysStreamMagic);
  if (magic == std::string_view::npos) return {};
  const std::string_view rest = head.substr(magic + kNsysStreamMagic.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

// Scratch space in the output folder, gone when the conversion is over. It is the tools' working
// folder and HOME too: they leave caches there, which are nobody's.
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

// One report on its way through the tools.
class Conversion {
 public:
  Conversion(const path& report, ReportKind kind, const ConversionOptions& options,
             const WorkFolder& work)
      : report_(report), kind_(kind), options_(options), work_(work) {}

  // The tools see the report under a name of ours: it may lie in a read-only folder, its name may
  // look like an option, and QdstrmImporter appends to what it imports.
  [[nodiscard]] Result<void> place_report(const char* name) const {
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

  [[nodiscard]] Result<path> import_stream(const std::vector<path>& importers) const {
    return run_first_that_works(importers, Tool::qdstrm_importer,
                                {"-i", "input.qdstrm", "-o", kImported}, kImported,
                                [](const path& made) { return !file_part(made, 0, 1).empty(); });
  }

  [[nodiscard]] Result<path> export_sqlite(const std::vector<path>& nsys, const char* from) const {
    return run_first_that_works(
        nsys, Tool::nsys,
        {"export", "--type", "sqlite", "--output", kExported, "--force-overwrite", "true", from},
        kExported,
        [](const path& made) { return file_part(made, 0, kSqliteMagic.size()) == kSqliteMagic; });
  }

  [[nodiscard]] Result<path> print_raw_page(const std::vector<path>& ncu) const {
    return run_first_that_works(ncu, Tool::ncu,
                                {"--import", "input.ncu-rep", "--page", "raw", "--csv"}, kRawPage,
                                [](const path& made) {
                                  const std::string head = file_part(made, 0, kNcuHeaderReach);
                                  return head.starts_with("\"ID\",") || contains(head, "\n\"ID\",");
                                });
  }

 private:
  using Check = bool (*)(const path& made);

  // A tool refuses reports of other versions than its own, so each installation gets its chance.
  [[nodiscard]] Result<path> run_first_that_works(const std::vector<path>& installations, Tool tool,
                                                  const std::vector<std::string>& arguments,
                                                  const char* made, Check is_good) const {
    std::optional<Error> first_failure;
    for (const path& executable : installations) {
      std::error_code status;
      std::filesystem::remove(work_ / made, status);
      const auto ended = run(executable, tool, arguments, made);
      if (!ended) return fail_with(ended.error());
      if (ended->succeeded() && is_good(work_ / made)) return work_ / made;
      std::string how = describe_end(*ended);
      if (ended->succeeded()) how = "it reported success but left no usable output";
      std::string said = ended->output_tail;
      // ncu writes its errors where the data go.
      if (tool == Tool::ncu) said += "\n" + file_part(work_ / made, -4096, 4096);
      if (!first_failure) first_failure = failed_tool(report_, kind_, tool, executable, how, said);
      if (ended->end == ProcessEnd::timed_out || ended->end == ProcessEnd::stopped) break;
    }
    return fail_with(first_failure.value_or(Error{ErrorKind::internal, "no tool to run"}));
  }

  [[nodiscard]] Result<ProcessResult> run(const path& executable, Tool tool,
                                          const std::vector<std::string>& arguments,
                                          const char* made) const {
    Command command;
    command.argv = {executable.string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    // The locale decides how ncu writes numbers, and an unknown one makes the tools abort.
    command.environment = {{"HOME", work_.where().string()}, {"LC_ALL", "C"}};
    command.working_folder = work_.where();
    if (tool == Tool::ncu) command.stdout_file = work_ / made;
    command.timeout = options_.timeout;
    command.grace = options_.grace;
    command.stop = options_.stop;
    if (options_.run) return options_.run(step_of(tool), std::move(command));
    return run_process(command);
  }

  static std::string_view step_of(Tool tool) {
    switch (tool) {
      case Tool::qdstrm_importer:
        return "import";
      case Tool::nsys:
        return "export";
      case Tool::ncu:
        return "raw";
    }
    return {};
  }

  const path& report_;
  ReportKind kind_;
  const ConversionOptions& options_;
  const WorkFolder& work_;
};

Result<std::vector<path>> find_or_refuse(Tool tool, const path& report, ReportKind kind,
                                         const ConversionOptions& options, std::string_view head) {
  auto found = find_tool(tool, options.search);
  if (found && found->empty()) {
    return fail_with(missing_tool(report, kind, tool, stream_version(head)));
  }
  return found;
}

// Gives the result its name without ever replacing a file.
Result<path> settle(const path& made, const path& folder, const path& stem,
                    std::string_view suffix) {
  for (int number = 1; number < 10000; ++number) {
    path target = folder / stem;
    target += number == 1 ? std::string(suffix) : fmt::format("-{}{}", number, suffix);
    if (::link(made.c_str(), target.c_str()) == 0) return target;
    if (errno == EEXIST) continue;
    // A file system without hard links.
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
                                  report.string(), report_name(kind)));
  }
  return head;
}

const char* name_for_tools(ReportKind kind) {
  switch (kind) {
    case ReportKind::ncu_report:
      return "input.ncu-rep";
    case ReportKind::nsys_stream:
      return "input.qdstrm";
    case ReportKind::nsys_report:
      return "input.nsys-rep";
  }
  return "";
}

}  // namespace

std::optional<ReportKind> report_kind(const path& file, std::string_view head) {
  if (head.starts_with(kNsysReportMagic)) return ReportKind::nsys_report;
  if (head.starts_with(kNcuReportMagic)) return ReportKind::ncu_report;
  if (contains(head.substr(0, kNsysStreamMagicReach), kNsysStreamMagic)) {
    return ReportKind::nsys_stream;
  }
  const std::string extension = file.extension().string();
  if (equals_ignoring_case(extension, ".nsys-rep") || equals_ignoring_case(extension, ".qdrep")) {
    return ReportKind::nsys_report;
  }
  if (equals_ignoring_case(extension, ".qdstrm")) return ReportKind::nsys_stream;
  if (equals_ignoring_case(extension, ".ncu-rep")) return ReportKind::ncu_report;
  return std::nullopt;
}

Result<path> convert_report(const path& report, ReportKind kind, const path& output_folder,
                            const ConversionOptions& options) {
  const auto head = head_of_report(report, kind);
  if (!head) return fail_with(head.error());
  const Tool tool = kind == ReportKind::ncu_report ? Tool::ncu : Tool::nsys;
  std::vector<path> importers;
  if (kind == ReportKind::nsys_stream) {
    auto found = find_or_refuse(Tool::qdstrm_importer, report, kind, options, *head);
    if (!found) return fail_with(found.error());
    importers = std::move(*found);
  }
  const auto installations = find_or_refuse(tool, report, kind, options, *head);
  if (!installations) return fail_with(installations.error());

  const auto work = WorkFolder::make(output_folder);
  if (!work) return fail_with(work.error());
  const Conversion conversion(report, kind, options, *work);
  const char* name = name_for_tools(kind);
  if (auto placed = conversion.place_report(name); !placed) return fail_with(placed.error());
  if (kind == ReportKind::ncu_report) {
    const auto made = conversion.print_raw_page(*installations);
    if (!made) return fail_with(made.error());
    return settle(*made, output_folder, report.stem(), "_raw.csv");
  }
  if (kind == ReportKind::nsys_stream) {
    const auto imported = conversion.import_stream(importers);
    if (!imported) return fail_with(imported.error());
    name = kImported;
  }
  const auto made = conversion.export_sqlite(*installations, name);
  if (!made) return fail_with(made.error());
  return settle(*made, output_folder, report.stem(), ".sqlite");
}

Result<path> import_nsys_stream(const path& stream, const path& output_folder,
                                const ConversionOptions& options) {
  constexpr ReportKind kKind = ReportKind::nsys_stream;
  const auto head = head_of_report(stream, kKind);
  if (!head) return fail_with(head.error());
  const auto importers = find_or_refuse(Tool::qdstrm_importer, stream, kKind, options, *head);
  if (!importers) return fail_with(importers.error());
  const auto work = WorkFolder::make(output_folder);
  if (!work) return fail_with(work.error());
  const Conversion conversion(stream, kKind, options, *work);
  if (auto placed = conversion.place_report(name_for_tools(kKind)); !placed) {
    return fail_with(placed.error());
  }
  const auto made = conversion.import_stream(*importers);
  if (!made) return fail_with(made.error());
  return settle(*made, output_folder, stream.stem(), ".nsys-rep");
}

}  // namespace llmprof::capture
