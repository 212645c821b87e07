#include "session/bundle/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

#include "base/files.h"
#include "base/needed.h"
#include "session/bundle/export_rows.h"
#include "session/bundle/records.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

constexpr int kDeepestFolder = 3;

struct RunFile {
  std::string_view name;
  RunRole role;
};

std::vector<Input> run_captures(const fs::path& folder, size_t run) {
  constexpr std::string_view kOwnMetrics = "stage1/metrics.json";
  constexpr std::array<RunFile, 7> kFiles = {{{"nsys/run.sqlite", RunRole::nsys},
                                              {"ncu/raw.csv", RunRole::other},
                                              {kOwnMetrics, RunRole::other},
                                              {"torch/trace.json.gz", RunRole::torch},
                                              {"torch/trace.json", RunRole::torch},
                                              {"torch/memory.pickle", RunRole::other},
                                              {"torch/memory-oom.pickle", RunRole::other}}};
  std::vector<Input> files;
  const auto add_logs = [&](std::string_view name, RunRole role) {
    const auto logs = logs_in(folder / name);
    for (const fs::path& log : logs) files.push_back({log, false, run, role, folder});
    return !logs.empty();
  };
  bool has_capture = add_logs("collector", RunRole::log);
  for (const RunFile& file : kFiles) {
    if (!is_file(folder / file.name)) continue;
    files.push_back({folder / file.name, false, run, file.role, folder});
    has_capture = has_capture || file.name != kOwnMetrics;
  }
  // Requests of a server under load: one file of each recording. Only those of the control run are
  // those of a server at its own speed.
  for (const std::string_view name :
       {"collector/record-load/requests.json", "nsys/profile-load/requests.json"}) {
    if (is_file(folder / name))
      files.push_back({folder / name, false, run, RunRole::other, folder});
  }
  constexpr std::string_view kUnrecorded = "stage1/control-load/requests.json";
  if (is_file(folder / kUnrecorded)) {
    files.push_back({folder / kUnrecorded, false, run, RunRole::control, folder});
  }
  // If nothing else was captured, our log of nsys's recording is all there is: a CPU program's
  // operators, or ranges that show what is missing.
  if (!has_capture) {
    add_logs("nsys/annotations", RunRole::annotations);
  } else if (!add_logs("stage1/driver_calls", RunRole::control)) {
    // If the driver reported launches, hardly any could be intercepted.
    add_logs("stage1/launches", RunRole::control);
  }
  return files;
}

// Files that our own bundles contain in addition to captures.
bool is_our_output(const fs::path& file) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {"/profile.json", "/env.json", "/captures.json", "/ranks.json", ".svg", ".md", ".html",
       ".yaml", ".tmp", ".llmpart"});
  const std::string name = "/" + file.filename().string();
  return export_named(name) != nullptr ||
         std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

bool has_export_beside(const fs::path& file, const std::set<fs::path>& files) {
  const std::string extension = file.extension().string();
  if (extension != ".nsys-rep" && extension != ".qdrep" && extension != ".qdstrm") return false;
  return files.contains(fs::path(file).replace_extension(".sqlite"));
}

std::string names_of(const std::set<fs::path>& paths) {
  constexpr size_t kNamed = 5;
  std::string names;
  size_t named = 0;
  for (const fs::path& path : paths) {
    if (named == kNamed) return names + fmt::format(" and {} more", paths.size() - kNamed);
    names += (named++ == 0 ? "" : ", ") + path.string();
  }
  return names;
}

// The files of a folder and its subfolders, and the paths that were skipped.
struct Listing {
  std::set<fs::path> files;
  std::set<fs::path> too_deep;       // folders
  std::set<fs::path> our_outputs;    // files
  std::set<fs::path> no_files;       // pipes, sockets, devices
  std::set<fs::path> earlier;        // folders of runs that a later run replaced
  std::set<std::string> unreadable;  // folders, each with the reason
};

// Returns the reason if the folder itself cannot be listed.
std::error_code list(const fs::path& folder, int depth, Listing& listing) {
  std::error_code trouble;
  fs::directory_iterator entries(folder, trouble);
  for (; !trouble && entries != fs::end(entries); entries.increment(trouble)) {
    const fs::path& path = entries->path();
    std::error_code ignored;
    const fs::file_status status = entries->status(ignored);
    if (fs::is_directory(status)) {
      if (entries->is_symlink(ignored)) continue;  // it may lead back here
      if (is_earlier_run(path)) {
        listing.earlier.insert(path);
      } else if (depth == kDeepestFolder) {
        listing.too_deep.insert(path);
      } else if (const auto closed = list(path, depth + 1, listing)) {
        listing.unreadable.insert(fmt::format("{} ({})", path.string(), closed.message()));
      }
    } else if (fs::is_regular_file(status)) {
      (is_our_output(path) ? listing.our_outputs : listing.files).insert(path);
    } else {
      listing.no_files.insert(path);
    }
  }
  return trouble;
}

void note_left_aside(const Listing& listing, const std::set<fs::path>& exported,
                     Diagnostics& notes) {
  if (!listing.unreadable.empty()) {
    notes.warn("folders_unreadable", fmt::format("skipped folders that cannot be listed: {}",
                                                 fmt::join(listing.unreadable, ", ")));
  }
  if (!listing.too_deep.empty()) {
    notes.warn("folders_too_deep",
               fmt::format("folders more than {} levels down were not searched; name them to "
                           "analyze what they hold: {}",
                           kDeepestFolder, names_of(listing.too_deep)));
  }
  const auto note = [&](const std::set<fs::path>& files, std::string_view why) {
    if (!files.empty()) {
      notes.info("files_left_aside", fmt::format("{}: {}", why, names_of(files)));
    }
  };
  note(listing.our_outputs, "files of llmprof's own reports and records were not read");
  note(listing.earlier, "earlier runs, which `run --force` moved aside, were not read");
  note(listing.no_files, "pipes, sockets and devices were not read");
  note(exported, "skipped reports that are already exported in the same folder");
}

std::vector<Input> folder_captures(const fs::path& folder, Diagnostics& notes) {
  if (const auto repeats = repeats_in(folder); !repeats.empty()) {
    give_up(
        ErrorKind::usage,
        fmt::format("{}: it holds {} runs of `llmprof run --repeat`, which are not one profile; "
                    "name one of them, such as {}, or compare folders with `llmprof diff`",
                    folder.string(), repeats.size(), repeats.front().string()));
  }
  Listing listing;
  if (const auto trouble = list(folder, 0, listing)) {
    give_up(ErrorKind::input,
            fmt::format("{}: cannot list the folder: {}", folder.string(), trouble.message()));
  }
  std::vector<Input> captures;
  std::set<fs::path> exported;
  for (const fs::path& file : listing.files) {
    if (has_export_beside(file, listing.files)) {
      exported.insert(file);
    } else {
      captures.push_back({file, false, {}, RunRole::other});
    }
  }
  note_left_aside(listing, exported, notes);
  return captures;
}

// Runs of single ranks, which `llmprof run --rank-folder` puts into one folder, are numbered from
// `first_of_ranks`.
std::vector<Input> captures_in(const fs::path& folder, size_t run, size_t first_of_ranks,
                               Diagnostics& notes) {
  if (is_run_folder(folder)) return run_captures(folder, run);
  std::vector<Input> captures;
  for (const RankFolder& of_rank : rank_folders(folder)) {
    if (!is_run_folder(of_rank.path)) continue;
    const auto files = run_captures(of_rank.path, first_of_ranks++);
    captures.insert(captures.end(), files.begin(), files.end());
  }
  return captures.empty() ? folder_captures(folder, notes) : captures;
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kOwnFiles = {"profile.json", "inputs.yaml",
                                                         "config.yaml", "env.json"};
  const auto has_file = [&](std::string_view name) { return is_file(folder / name); };
  const auto has_folder = [&](std::string_view name) { return is_folder(folder / name); };
  return std::ranges::any_of(kOwnFiles, has_file) &&
         std::ranges::any_of(kRecordingFolders, has_folder);
}

std::vector<Input> expand_inputs(std::span<const fs::path> paths, Diagnostics& notes) {
  std::vector<Input> inputs;
  std::set<fs::path> seen;
  const auto add = [&](const Input& input) {
    std::error_code ignored;
    if (seen.insert(fs::weakly_canonical(input.path, ignored)).second) inputs.push_back(input);
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    const fs::path& path = paths[i];
    std::error_code trouble;
    const auto status = fs::status(path, trouble);
    if (!fs::exists(status)) {
      throw Failure(system_error(ErrorKind::input, path, trouble ? trouble.value() : ENOENT));
    }
    if (!fs::is_directory(status)) {
      if (!fs::is_regular_file(status)) needed(open_for_reading(path));
      add({path, true, {}, RunRole::other});
      continue;
    }
    const auto files = captures_in(path, i, paths.size() + inputs.size(), notes);
    if (files.empty()) {
      give_up(ErrorKind::input, fmt::format("{}: the folder contains no capture", path.string()));
    }
    std::ranges::for_each(files, add);
  }
  return inputs;
}

}  // namespace llmprof::session
