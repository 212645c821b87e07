#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"

namespace llmprof {

// The files behind what a user named: a file stands for itself, a run folder for its captures
// (nsys/run.sqlite, ncu/raw.csv, stage1/metrics.json, ...), any other folder for the captures in it
// and its subfolders. Reports that stand beside their own export (run.nsys-rep and run.sqlite) are
// left out.
struct Input {
  std::filesystem::path path;
  bool named = true;  // by the user; a file found in a folder may be something else
};
Result<std::vector<Input>> expand_inputs(std::span<const std::filesystem::path> paths);

}  // namespace llmprof
