#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// What a file is in the run folder that it was found in.
enum class RunRole : uint8_t {
  other,
  log,          // the collector's
  nsys,         // the export
  torch,        // the PyTorch trace
  annotations,  // our own log of nsys's pass
  control,      // what the light watch noted of the control run
};

// The files that a named path stands for: a file means itself, a run folder its captures
// (collector/*.llmtrace, nsys/run.sqlite, ncu/raw.csv, torch/trace.json.gz; where it has none of
// these nsys/annotations/*.llmtrace; and stage1/metrics.json, stage1/launches/*.llmtrace), a folder
// of one run folder per rank (rank0/, rank1/, ...) those of each of them, any other folder the
// captures in it and its subfolders. Reports that lie next to their own export (run.nsys-rep and
// run.sqlite) are left out.
struct Input {
  fs::path path;
  bool named = true;          // by the user; a file found in a folder may be something else
  std::optional<size_t> run;  // the same number for all files of one run folder
  RunRole role = RunRole::other;
  fs::path run_folder = {};  // that folder
};
// A folder that `llmprof run` made, whole or not: it knows what ran, and has folders of captures.
bool is_run_folder(const fs::path& folder);
// What of a folder was not looked at, and why, is added to `notes`.
Result<std::vector<Input>> expand_inputs(std::span<const fs::path> paths, Diagnostics& notes);

}  // namespace llmprof::session
