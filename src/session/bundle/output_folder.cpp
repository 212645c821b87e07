#include "session/bundle/output_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

// The folder and those above it that do not exist.
std::vector<fs::path> missing_folders(fs::path folder) {
  std::vector<fs::path> missing;
  std::error_code unreadable;
  while (!folder.empty() && !fs::exists(fs::symlink_status(folder, unreadable))) {
    missing.push_back(folder);
    fs::path above = folder.parent_path();
    if (above == folder) break;
    folder = std::move(above);
  }
  return missing;
}

}  // namespace

OutputFolder::~OutputFolder() {
  // Only empty ones go.
  for (const fs::path& folder : made_) {
    std::error_code in_use;
    if (!fs::remove(folder, in_use)) break;
  }
}

Result<void> OutputFolder::claim() {
  if (!path_) return {};  // nobody else gets a new one
  const auto opened = open();
  return opened ? Result<void>() : fail_with(opened.error());
}

Result<Artifacts> OutputFolder::open() {
  if (opened_) return *opened_;
  const fs::path parent = fs::path("tmp") / "analyze";
  if (path_ && is_shared_) return Artifacts::create_shared(*path_);
  std::vector<fs::path> missing = missing_folders(path_.value_or(parent));
  auto artifacts = path_ ? Artifacts::create(*path_, force_) : Artifacts::create_fresh(parent);
  if (!artifacts) return artifacts;
  if (!path_) missing.insert(missing.begin(), artifacts->root());
  made_ = std::move(missing);
  opened_ = *artifacts;
  return artifacts;
}

}  // namespace llmprof::session
