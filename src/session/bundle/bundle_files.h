#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "page/page.h"

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

// Whether a file is a profile.json, whatever its name: a PyTorch trace is JSON too.
bool is_profile(const fs::path& file);

inline constexpr std::string_view kPageFile = "report.html";

// Where report.html is, or why it is missing.
struct PageOutcome {
  std::optional<fs::path> file;
  std::optional<std::string> left_out;  // why there is none, and how to get it
};

// Writes report.html into an existing folder; errors are thrown (base/needed.h). Without a bundle,
// it returns the reason and removes an earlier page, because that would show other numbers than the
// new reports.
PageOutcome write_page_file(const std::optional<page::Bundle>& bundle, const fs::path& folder,
                            const std::function<std::string(const page::Bundle&)>& make);

}  // namespace llmprof::session
