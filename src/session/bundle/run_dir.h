#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "session/bundle/folder_claim.h"

namespace llmprof::session {

// The folder that one run or analysis leaves behind.
class Artifacts {
 public:
  // A folder that exists and is not empty is refused unless `force`: nothing that a user captured
  // is overwritten by accident.
  static Result<void> check_free(const std::filesystem::path& root, bool force);
  // Makes the folder, unless it is refused. Nobody else writes into it while this object, or a copy
  // of it, exists.
  static Result<Artifacts> create(std::filesystem::path root, bool force);
  // The same for one into which other processes write, too.
  static Result<Artifacts> create_shared(std::filesystem::path root);
  // Makes `parent`/<run id>, with a number behind it where another run has that one, be it at the
  // same moment.
  static Result<Artifacts> create_fresh(const std::filesystem::path& parent);
  // One that exists.
  static Result<Artifacts> from_root(std::filesystem::path root);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  void set_root(std::filesystem::path root) { root_ = std::move(root); }
  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return root_ / name; }

  [[nodiscard]] Result<void> make_folder(std::string_view name) const;
  // Whole or not at all, like every file of a bundle.
  [[nodiscard]] Result<void> write(std::string_view name, std::string_view content) const;
  [[nodiscard]] Result<void> write_env(std::string_view json) const;
  [[nodiscard]] Result<void> write_config(std::string_view yaml) const;
  [[nodiscard]] Result<void> write_inputs(std::string_view yaml) const;

 private:
  std::filesystem::path root_;
  std::optional<FolderClaim> claim_;
};

// A run's folder with what every run has in it: nsys/ and ncu/. `chosen` is the user's own choice,
// from which an earlier run is moved aside; empty: a fresh one in `parent`.
struct RunFolder {
  Artifacts bundle;
  std::optional<std::filesystem::path> earlier;  // where the earlier run is now
};
Result<RunFolder> create_stage2_root(const std::filesystem::path& parent,
                                     const std::filesystem::path& chosen, bool force);

// "20261115-013000" in local time.
std::string new_run_id();

}  // namespace llmprof::session
