#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// The role of a file in its run folder.
enum class RunRole : uint8_t {
  other,
  log,          // the collector's log
  nsys,         // nsys's export
  torch,        // the PyTorch trace
  annotations,  // our own log of nsys's recording
  control,      // of the control run: noted launches, requests
};

// The files that a path stands for. A file stands for itself. A run folder stands for its captures:
// collector/*.llmtrace, nsys/run.sqlite, ncu/raw.csv, torch/trace.json.gz (if it has none of these,
// nsys/annotations/*.llmtrace), stage1/metrics.json and stage1/launches/*.llmtrace, and the
// requests.json of each load. A folder with one run folder per rank (rank0/, rank1/, ...) stands
// for the captures of all ranks, any other folder for the captures in it and its subfolders.
// Reports next to their own export (run.nsys-rep and run.sqlite) are skipped.
struct Input {
  fs::path path;
  bool named = true;          // by the user; a file found in a folder may not be a capture
  std::optional<size_t> run;  // the same number for all files of one run folder
  RunRole role = RunRole::other;
  fs::path run_folder = {};  // the folder with this number
};
// A folder that `llmprof run` made, complete or not: it records what ran and contains captures.
bool is_run_folder(const fs::path& folder);
// Adds to `notes` what was skipped in a folder, and why. Errors are thrown (base/needed.h).
std::vector<Input> expand_inputs(std::span<const fs::path> paths, Diagnostics& notes);

}  // namespace llmprof::session
