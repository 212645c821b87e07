#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace llmprof::session {

struct ArtifactFile {
  std::string name;  // relative to the run's folder
  uint64_t bytes = 0;
  std::string kind;  // "nsys report", "provenance", "log", ...
};

// Every file of a run's folder, sorted by name. `run` is the folder, or a run id under tmp/stage2
// or tmp/analyze.
struct ArtifactList {
  std::filesystem::path folder;
  std::vector<ArtifactFile> files;
};
Result<ArtifactList> list_artifacts(const std::filesystem::path& run);

std::string to_json(const ArtifactList& list);

// What a file of that name is, by where it lies in a bundle.
std::string artifact_kind(const std::filesystem::path& name);

// The report.html of a run: `run` is its folder, a run id under tmp/stage2 or tmp/analyze, or the
// page itself. An absolute path.
Result<std::filesystem::path> find_page(const std::filesystem::path& run);

}  // namespace llmprof::session
