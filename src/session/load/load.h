#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "load/load.h"
#include "profile/load_sweep.h"
#include "session/analysis/analyze.h"
#include "session/bundle/run_dir.h"
#include "session/load_plan/load_arguments.h"

namespace llmprof::session {

// One load and its record.
struct FinishedLoad {
  std::string name;  // of a sweep: "rate 4"; otherwise empty
  fs::path record;   // requests.json
  load::LoadOutcome outcome;
  std::optional<Analysis> analysis;  // none: it gives no result
};

struct LoadsOutcome {
  fs::path folder;
  std::vector<FinishedLoad> loads;
  std::string server;  // as it names itself; may be empty
  load::Api api = load::Api::completions;
  std::string model;  // may be empty
  bool prompts_as_ids = false;
  std::vector<std::string> notes;  // skipped rows of a replayed file
  // Why figures of the loads are no result: not held, or no request was completed.
  std::optional<Error> refused;
  std::optional<profile::LoadSweep> sweep;
  std::string sweep_json;  // the text of sweep.json
};

inline constexpr std::string_view kRequestsFile = "requests.json";

// Loads the server, once or, in a sweep, several times, writes the records and, next to each, the
// reports of its analysis. An error means that nothing was loaded. `stop` ends the load and keeps
// what was recorded.
Result<LoadsOutcome> run_loads(const LoadArguments& arguments, const std::atomic<bool>* stop,
                               Progress& progress);

}  // namespace llmprof::session
