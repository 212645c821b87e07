#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/request.h"
#include "session/bundle/export_rows.h"

namespace llmprof::session {

struct AnalyzeOptions {
  std::vector<std::filesystem::path> inputs;
  std::optional<std::filesystem::path> out;  // default: tmp/analyze/<run id>
  bool force = false;                        // write into a folder that is not empty
  bool in_place = false;      // into the one input, a run folder: replaces reports, keeps captures
  std::optional<size_t> top;  // rows of kernels.md; all of them by default
  Exports exports;
  std::optional<std::filesystem::path> config_folder;  // overlays the shipped conf/

  // What ran, and which part of it to analyze.
  analysis::AnalysisOptions requested;
  // config.json, a folder with one, or a preset; default: that of a run folder's inputs.yaml
  std::optional<std::string> model;
  std::optional<std::string> steps;  // "4:12", as parse_step_range reads it
};

}  // namespace llmprof::session
