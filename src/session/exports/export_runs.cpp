#include "session/exports/export_runs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "session/analysis/analyze.h"
#include "session/bundle/export_rows.h"
#include "session/version.h"

namespace llmprof::session {
namespace {

// Whether a folder holds nothing but files that a format in several files writes.
bool is_folder_of_exports(const fs::path& folder) {
  return std::ranges::all_of(entries_of(folder), [](const fs::path& entry) {
    return entry.extension() == ".arrow" && is_file(entry);
  });
}

// Standard output, a pipe or a device, to which text can be written.
bool is_stream(const fs::path& out) {
  return out == "-" || (path_exists(out) && !is_file(out) && !is_folder(out));
}

// Where to write: a symbolic link stands for its target.
fs::path checked_path(const ExportRequest& request, const ExportRow& row) {
  fs::path out = request.out.value_or(fmt::format("llmprof{}", row.ending));
  if (is_stream(out) && !std::holds_alternative<ExportRow::FromTables>(row.write)) return out;
  if (!out.has_filename()) out = out.parent_path();
  std::error_code ignored;
  if (fs::is_symlink(out, ignored) && path_exists(out)) out = fs::canonical(out, ignored);
  if (!path_exists(out)) return out;
  const std::string_view kind = row.folder_of_files ? "folder" : "file";
  if (!request.force) {
    give_up(ErrorKind::usage,
            fmt::format("{}: exists already; choose another {}, or use --force to replace it",
                        out.string(), kind));
  }
  if (!row.folder_of_files && !is_file(out)) {
    give_up(ErrorKind::usage, fmt::format("{}: is not a file", out.string()));
  }
  if (row.folder_of_files && !(is_folder(out) && is_folder_of_exports(out))) {
    give_up(
        ErrorKind::usage,
        fmt::format("{}: is not a folder of an earlier export; choose another one", out.string()));
  }
  return out;
}

// What is written under another name until it is complete.
class Partial {
 public:
  Partial(const fs::path& out, bool is_folder)
      : out_(out), path_(out.string() + fmt::format(".{}.partial", ::getpid())) {
    if (is_folder && ::mkdir(path_.c_str(), 0777) != 0) {
      throw Failure(system_error(ErrorKind::tool, path_, errno));
    }
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  ~Partial() { remove(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }
  void complete() {
    if (is_folder(out_)) remove(out_);
    std::error_code failed;
    fs::rename(path_, out_, failed);
    if (failed) throw Failure(system_error(ErrorKind::tool, out_, failed.value()));
  }

 private:
  static void remove(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  fs::path out_;
  fs::path path_;
};

query::Run only_one(std::vector<query::Run> runs, const ExportRow& row) {
  if (runs.size() > 1) {
    give_up(ErrorKind::usage,
            fmt::format("--format {} takes one run; tables (sqlite, arrow) can hold several",
                        row.name));
  }
  return std::move(runs.front());
}

// "requests, tokens: no file of requests was read": many tables are missing for one reason.
std::vector<std::string> by_reason(const std::vector<query::CopiedTables::Lack>& lacks) {
  std::vector<std::pair<std::string, std::string>> reasons;  // tables, why
  for (const auto& [table, why] : lacks) {
    const std::string place = table + ": ";
    const std::string reason = why.starts_with(place) ? why.substr(place.size()) : why;
    const auto known =
        std::ranges::find(reasons, reason, &std::pair<std::string, std::string>::second);
    if (known == reasons.end()) {
      reasons.emplace_back(table, reason);
    } else {
      known->first += ", " + table;
    }
  }
  std::vector<std::string> texts;
  texts.reserve(reasons.size());
  for (const auto& [tables, why] : reasons) texts.push_back(fmt::format("{}: {}", tables, why));
  return texts;
}

ExportedRuns write_tables(ExportRow::FromTables write, const ExportRow& row, const fs::path& out,
                          std::vector<query::Run> runs, Progress& progress) {
  const auto database = needed(query::Database::open(std::move(runs)));
  Partial partial(out, row.folder_of_files);
  const query::CopiedTables copied = needed(write(*database, partial.path(), progress));
  partial.complete();
  ExportedRuns exported;
  exported.path = out;
  exported.content =
      fmt::format("{}, {}", counted(copied.tables, "table"), counted(copied.rows, "row"));
  exported.lacks = by_reason(copied.lacks);
  return exported;
}

exports::ExportedText text_of(ExportRow::FromTraces make, const ExportRow& row,
                              const query::Run& run, const std::vector<query::Events>& events) {
  const exports::ExportSources sources = needed(export_sources(run.profile, events));
  if (row.file_per_rank && sources.size() > 1) {
    give_up(ErrorKind::usage,
            fmt::format("--format {} has a file for each rank of a job: use `llmprof report RUN "
                        "{}`",
                        row.name, row.option));
  }
  return needed(make(sources, kVersion));
}

ExportedRuns write_text(const ExportRow& row, const fs::path& out, const query::Run& run,
                        const MakeProgress& make_progress) {
  const auto* const from_traces = std::get_if<ExportRow::FromTraces>(&row.write);
  std::vector<query::Events> events;
  if (from_traces != nullptr) events = needed(run.read_events());
  const auto progress = make_progress();
  progress->begin(fmt::format("writing {}", out.string()));
  exports::ExportedText text =
      from_traces != nullptr
          ? text_of(*from_traces, row, run, events)
          : needed(std::get<ExportRow::FromProfile>(row.write)(run.profile, run.name, kVersion));
  needed(write_named_file(out, text.text));
  return {out, std::string(row.content), std::move(text.lacks), is_stream(out)};
}

}  // namespace

Result<ExportedRuns> export_runs(const ExportRequest& request, const MakeProgress& make_progress) {
  return attempt([&] {
    const auto* const row = std::ranges::find(kExports, request.format, &ExportRow::name);
    if (row == kExports.end()) {
      give_up(ErrorKind::usage, fmt::format("unknown format: {}", request.format));
    }
    const fs::path out = checked_path(request, *row);
    auto runs = needed(open_runs(request.runs, request.config_folder, make_progress));
    if (const auto* write = std::get_if<ExportRow::FromTables>(&row->write)) {
      return write_tables(*write, *row, out, std::move(runs), *make_progress());
    }
    const query::Run run = only_one(std::move(runs), *row);
    return write_text(*row, out, run, make_progress);
  });
}

}  // namespace llmprof::session
