#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// Errors of this file are thrown (base/needed.h).

// The folders of a run's recordings, except the control run's.
inline constexpr std::array<std::string_view, 4> kRecordingFolders = {"collector", "nsys", "ncu",
                                                                      "torch"};

// Keeps other processes from writing into a folder while a copy of it exists.
using FolderClaim = std::shared_ptr<FileDescriptor>;

// The output folder of one run or analysis.
class Artifacts {
 public:
  // An existing folder, or one that is only planned.
  explicit Artifacts(fs::path root) : root_(std::move(root)) {}
  // Makes the folder. Refuses an existing one that is not empty unless `force`, so that captures
  // are never overwritten by accident. No other process of llmprof writes into it while this object
  // or a copy exists.
  static Artifacts create(const fs::path& root, bool force);
  // The same for a folder that other processes also write into.
  static Artifacts create_shared(const fs::path& root);
  // Makes `parent`/<run id>, with a number appended if another run has that id, even one that
  // starts at the same moment.
  static Artifacts create_fresh(const fs::path& parent);

  [[nodiscard]] const fs::path& root() const { return root_; }
  [[nodiscard]] fs::path path(std::string_view name) const { return root_ / name; }

  void make_folder(std::string_view name) const;
  // Writes the complete file or nothing, like every file of a bundle.
  void write(std::string_view name, std::string_view content) const;

 private:
  fs::path root_;
  FolderClaim claim_;
};

// A run's folder. `chosen` is the user's choice, in which an earlier run is moved aside; if it is
// empty, a new folder in `parent`.
struct RunFolder {
  Artifacts bundle;
  std::optional<fs::path> earlier;  // new location of the earlier run
};
RunFolder create_run_folder(const fs::path& parent, const fs::path& chosen, bool force);
// The same, with the subfolders that every run has: nsys/ and ncu/.
RunFolder create_stage2_root(const fs::path& parent, const fs::path& chosen, bool force);

// The collector's logs in a folder, by name.
std::set<fs::path> logs_in(const fs::path& folder);

// A folder belongs to one run. If it is used again, the earlier run moves to `previous-1` in it
// (then previous-2, ...), a run folder like any other. Nothing that reads the folder looks into
// these.

// Moves the outputs of a run, an analysis or a job's ranks; other files stay. Returns the folder
// they are in now; none if there was nothing to move.
std::optional<fs::path> move_earlier_run_aside(const fs::path& root);

// For a job with one folder per rank: moves the files common to all ranks, and the folders of ranks
// that a job of `world_size` does not have.
std::optional<fs::path> move_earlier_job_aside(const fs::path& root,
                                               std::optional<uint64_t> world_size);

// The runs of `llmprof run --repeat` in its folder: run-1, run-2, ..., with --against base-1, ...,
// new-1, ...; empty if it is another folder.
std::vector<fs::path> repeats_in(const fs::path& folder);

// Whether a folder of this name contains an earlier run.
bool is_earlier_run(const fs::path& folder);

// The ncu folder of the last earlier run that used ncu, if it was interrupted there; none if there
// is nothing to continue.
std::optional<fs::path> interrupted_ncu_capture(const fs::path& root);

// The destination of a bundle. Folders made for it that stay empty are removed with this object, so
// that a failed analysis leaves none.
class OutputFolder {
 public:
  // No path: a new folder under tmp/analyze. `force` allows a folder that is not empty.
  OutputFolder(std::optional<fs::path> path, bool force) : path_(std::move(path)), force_(force) {}
  // A folder into which other processes write files of other names at the same time.
  static OutputFolder shared(std::optional<fs::path> path) { return {std::move(path), true, true}; }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  // Called before a long analysis: refuses a folder that is not free, and keeps other processes
  // from writing into it.
  void claim();
  // Returns the same folder on every call.
  Artifacts open();

 private:
  OutputFolder(std::optional<fs::path> path, bool force, bool is_shared)
      : path_(std::move(path)), force_(force), is_shared_(is_shared) {}

  std::optional<fs::path> path_;
  bool force_;
  bool is_shared_ = false;
  std::optional<Artifacts> opened_;
  std::vector<fs::path> made_;  // innermost first
};

}  // namespace llmprof::session
