#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace llmprof::session {
namespace fs = std::filesystem;

struct ArtifactFile {
  std::string name;  // relative to the run's folder
  uint64_t bytes = 0;
  std::string kind;  // "nsys report", "provenance", "log", ...
};

// Every file in a run's folder, sorted by name. `run` is the folder, or a run id under tmp/stage2
// or tmp/analyze.
struct ArtifactList {
  fs::path folder;
  std::vector<ArtifactFile> files;
};
Result<ArtifactList> list_artifacts(const fs::path& run);

std::string to_json(const ArtifactList& list);

// The absolute path of a run's report.html. `run` is its folder, a run id under tmp/stage2 or
// tmp/analyze, or the page itself.
Result<fs::path> find_page(const fs::path& run);

}  // namespace llmprof::session
