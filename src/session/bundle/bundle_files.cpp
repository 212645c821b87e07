#include "session/bundle/bundle_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "capture/shell.h"
#include "session/bundle/export_rows.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

struct Kind {
  std::string_view suffix;  // of the file's name in the bundle
  std::string_view kind;
};

// The first match counts.
constexpr std::array<Kind, 27> kKinds = {{
    {"env.json", "provenance"},
    {"config.yaml", "provenance"},
    {"inputs.yaml", "provenance"},
    {"profile.json", "profile"},
    {".md", "report"},
    {"cmd.txt", "command line"},
    {"status.json", "exit status"},
    {"captures.json", "notes on the captures"},
    {"ranks.json", "notes on the ranks"},
    {"metrics.json", "workload's own metrics"},
    {".log", "log"},
    {".llmtrace", "collector's log"},
    {".nsys-rep", "nsys report"},
    {".qdrep", "nsys report"},
    {".qdstrm", "nsys stream"},
    {".sqlite", "nsys timeline"},
    {".ncu-rep", "ncu report"},
    {"sections.txt", "ncu sections"},
    {"raw.csv", "ncu metrics"},
    {".svg", "plot"},
    {"trace.json.gz", "PyTorch trace"},
    {"trace.json", "PyTorch trace"},
    {".csv", "statistics"},
    {".tmp", "left by an interrupted write"},
    {".html", "report"},
    {".json", "data"},
    {".txt", "text"},
}};

// A run id stands for the folder of that name.
fs::path folder_of(const fs::path& run) {
  if (is_folder(run) || run.has_parent_path()) return run;
  for (const std::string_view parent : {"tmp/stage2", "tmp/analyze"}) {
    if (is_folder(fs::path(parent) / run)) return fs::path(parent) / run;
  }
  return run;
}

// The kind of a file, from its path in the bundle.
std::string_view kind_of(std::string_view name) {
  if (const ExportRow* row = export_named(name)) return row->content;
  const auto* found =
      std::ranges::find_if(kKinds, [&](const Kind& kind) { return name.ends_with(kind.suffix); });
  return found == kKinds.end() ? "other" : found->kind;
}

}  // namespace

Result<ArtifactList> list_artifacts(const fs::path& run) {
  ArtifactList list;
  list.folder = folder_of(run);
  std::error_code trouble;
  if (!fs::is_directory(list.folder, trouble)) {
    return fail_input(fmt::format("{}: {}", list.folder.string(),
                                  trouble ? trouble.message() : "is not a run's folder"));
  }
  fs::recursive_directory_iterator entries(list.folder, trouble);
  while (!trouble && entries != fs::recursive_directory_iterator()) {
    // An earlier run's files are not part of this run.
    if (is_earlier_run(entries->path())) entries.disable_recursion_pending();
    if (entries->is_regular_file(trouble) && !trouble) {
      const std::string name = fs::relative(entries->path(), list.folder, trouble).generic_string();
      const uint64_t bytes = entries->file_size(trouble);
      if (!trouble) list.files.push_back({name, bytes, std::string(kind_of(name))});
    }
    entries.increment(trouble);
  }
  if (trouble) {
    return fail_input(fmt::format("{}: {}", list.folder.string(), trouble.message()));
  }
  if (list.files.empty()) {
    return fail_input(
        fmt::format("{}: an empty folder; name a run's folder or its id", list.folder.string()));
  }
  std::ranges::sort(list.files, {}, &ArtifactFile::name);
  return list;
}

std::string to_json(const ArtifactList& list) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array();
  for (const ArtifactFile& file : list.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"kind", file.kind}});
  }
  constexpr int kIndent = 2;
  return Json({{"folder", list.folder.string()}, {"files", files}})
             .dump(kIndent, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<fs::path> find_page(const fs::path& run) {
  if (run.extension() == ".html" && is_file(run)) return fs::absolute(run);
  const auto found = list_artifacts(run);
  if (!found) return fail_with(found.error());
  const fs::path file = found->folder / kPageFile;
  if (is_file(file)) return fs::absolute(file).lexically_normal();
  return fail_input(fmt::format("{}: no report.html in this folder; `llmprof report {}` writes it",
                                found->folder.string(), run.string()));
}

PageOutcome write_page_file(const std::optional<page::Bundle>& bundle, const fs::path& folder,
                            const std::function<std::string(const page::Bundle&)>& make) {
  const fs::path file = folder / kPageFile;
  if (bundle) {
    needed(write_file_atomically(file, make(*bundle)));
    return {file, std::nullopt};
  }
  remove_file(file);
  return {std::nullopt, fmt::format("{} was left out: {}", kPageFile, page::why_no_bundle())};
}

// Recognized by its first field.
bool is_profile(const fs::path& file) {
  constexpr size_t kHead = 256;
  const std::string head = capture::file_part(file, 0, kHead);
  return head.starts_with('{') && contains(head, "\"schema_version\"");
}

}  // namespace llmprof::session
