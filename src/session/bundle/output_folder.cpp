#include "session/bundle/output_folder.h"

namespace llmprof::session {

Result<void> OutputFolder::check() const {
  return path_ ? Artifacts::check_free(*path_, force_) : Result<void>();
}

Result<Artifacts> OutputFolder::open() {
  auto artifacts = path_ ? Artifacts::create(*path_, force_)
                         : Artifacts::create_fresh(std::filesystem::path("tmp") / "analyze");
  if (artifacts) {
    path_ = artifacts->root();
    force_ = true;
  }
  return artifacts;
}

}  // namespace llmprof::session
