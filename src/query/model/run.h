#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "profile/profile.h"
#include "trace/trace.h"

namespace llmprof::query {

// Single events of a run, or of one rank of a job.
struct Events {
  std::optional<uint64_t> rank;  // none outside a job
  trace::Trace trace;
  analysis::Results results;
  // Texts of the program (ranges, kernels, operators) lose full paths and secrets.
  bool hides_paths = false;
};

// What is queried: the result of one analysis.
struct Run {
  std::string name;  // value of column `run`: unique, without a path
  profile::Profile profile;
  // Reads single events, which profile.json does not contain. Called at most once, when a statement
  // first needs them.
  std::function<Result<std::vector<Events>>()> read_events;
};

}  // namespace llmprof::query
