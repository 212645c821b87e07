#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// Keeps other processes from writing into a folder, as long as a copy of it exists.
using FolderClaim = std::shared_ptr<FileDescriptor>;

// The folder that one run or analysis leaves behind.
class Artifacts {
 public:
  // A folder that exists and is not empty is refused unless `force`: nothing that a user captured
  // is overwritten by accident.
  static Result<void> check_free(const fs::path& root, bool force);
  // Makes the folder, unless it is refused. Nobody else writes into it while this object, or a copy
  // of it, exists.
  static Result<Artifacts> create(fs::path root, bool force);
  // The same for one into which other processes write, too.
  static Result<Artifacts> create_shared(fs::path root);
  // Makes `parent`/<run id>, with a number behind it where another run has that one, be it at the
  // same moment.
  static Result<Artifacts> create_fresh(const fs::path& parent);
  // One that exists.
  static Result<Artifacts> from_root(fs::path root);

  [[nodiscard]] const fs::path& root() const { return root_; }
  void set_root(fs::path root) { root_ = std::move(root); }
  [[nodiscard]] fs::path path(std::string_view name) const { return root_ / name; }

  [[nodiscard]] Result<void> make_folder(std::string_view name) const;
  // Whole or not at all, like every file of a bundle.
  [[nodiscard]] Result<void> write(std::string_view name, std::string_view content) const;

 private:
  fs::path root_;
  FolderClaim claim_;
};

// A run's folder. `chosen` is the user's own choice, from which an earlier run is moved aside;
// empty: a fresh one in `parent`.
struct RunFolder {
  Artifacts bundle;
  std::optional<fs::path> earlier;  // where the earlier run is now
};
Result<RunFolder> create_run_folder(const fs::path& parent, const fs::path& chosen, bool force);
// The same with what every run has in it: nsys/ and ncu/.
Result<RunFolder> create_stage2_root(const fs::path& parent, const fs::path& chosen, bool force);

// What is in a folder; nothing of one that cannot be listed.
std::vector<fs::path> entries_of(const fs::path& folder);
// The collector's logs in it, by name.
std::set<fs::path> logs_in(const fs::path& folder);

// A folder belongs to one run. What an earlier run left in a folder that is used again goes into
// `previous-1` in it (previous-2, ... after that), a run's folder like any other; nothing that
// reads the folder looks into these.

// Moves what a run, an analysis or the ranks of a job leave; whatever else is there stays. Gives
// the folder it is in now; none where there was nothing.
Result<std::optional<fs::path>> move_earlier_run_aside(const fs::path& root);

// Of a job whose ranks have a folder each: what is there for all of them together, and the folders
// of ranks that a job of `world_size` does not have.
Result<std::optional<fs::path>> move_earlier_job_aside(const fs::path& root,
                                                       std::optional<uint64_t> world_size);

// Whether a folder of this name holds an earlier run.
bool is_earlier_run(const fs::path& folder);

// The ncu folder of the last earlier run that used ncu, if it was interrupted there; none where
// nothing is to be continued.
std::optional<fs::path> interrupted_ncu_capture(const fs::path& root);

// Where a bundle goes. Folders that are made for it and stay empty are gone with this object, so
// that an analysis that fails leaves none behind.
class OutputFolder {
 public:
  // None: a new one under tmp/analyze. `force` allows one that is not empty.
  OutputFolder(std::optional<fs::path> path, bool force) : path_(std::move(path)), force_(force) {}
  // One into which other processes write at the same time, files of other names.
  static OutputFolder shared(std::optional<fs::path> path) { return {std::move(path), true, true}; }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  // Before an analysis takes its time: refuses a folder that is not free, and keeps others from
  // writing into it.
  Result<void> claim();
  // The same folder on every call.
  Result<Artifacts> open();

 private:
  OutputFolder(std::optional<fs::path> path, bool force, bool is_shared)
      : path_(std::move(path)), force_(force), is_shared_(is_shared) {}

  std::optional<fs::path> path_;
  bool force_;
  bool is_shared_ = false;
  std::optional<Artifacts> opened_;
  std::vector<fs::path> made_;  // the innermost first
};

}  // namespace llmprof::session
