#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "session/analysis/timings.h"
#include "session/bundle/bundle_files.h"

namespace llmprof::session {

struct DiffOptions {
  std::vector<fs::path> base;  // at least one
  std::vector<fs::path> now;
  std::vector<std::string> gates;        // rules, and names of conf/gate/NAME.yaml
  std::optional<std::string> threshold;  // "1%"
  std::optional<fs::path> out;           // default: tmp/diff/<id>
  bool force = false;                    // write into a folder that is not empty
  std::optional<fs::path> junit;
  std::optional<fs::path> summary;
  std::optional<fs::path> config_folder;
};

struct DiffOutcome {
  compare::Diff diff;
  fs::path folder;
  std::vector<std::string> files;  // files written into it
  std::string json;                // the text of diff.json
  std::vector<PartTiming> timings;
  PageOutcome page;
};

// Reads and compares both sides, and writes diff.md, diff.json and report.html; changes no side.
Result<DiffOutcome> diff(const DiffOptions& options, Progress& progress);

// 0, 5 (a rule failed), 3 (undecided or not comparable).
int exit_code(const compare::Diff& diff);

// Each path is a profile.json, a folder or run id with one, or captures, which are analyzed. Adds
// the time of each part to `timings`. Errors are thrown (base/needed.h).
std::vector<compare::Run> read_side(std::span<const fs::path> paths,
                                    const std::optional<fs::path>& config_folder,
                                    Progress& progress, std::vector<PartTiming>& timings);

}  // namespace llmprof::session
