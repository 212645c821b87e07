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

namespace llmprof::session {

// The user's command line, as written.
struct LoadArguments {
  std::string url;
  std::optional<std::string> rate;
  std::optional<uint64_t> concurrency;
  std::optional<uint64_t> requests;
  std::optional<std::string> duration;
  std::optional<std::string> prompt_tokens;
  std::optional<std::string> new_tokens;
  std::optional<std::string> prompt_as;  // words, tokens
  std::optional<fs::path> prompts;
  std::optional<fs::path> replay;
  std::optional<std::string> speed;
  std::optional<std::string> arrivals;
  uint64_t seed = 0;
  std::optional<std::string> api;
  std::string model;
  std::optional<fs::path> ca_file;
  uint64_t warm_up = 0;
  std::optional<std::string> timeout;
  std::optional<std::string> slo;
  std::optional<std::string> sweep;
  std::optional<fs::path> out;
  bool force = false;
};

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

// Only checks the arguments: an error of kind usage or input, before anything is started.
Result<void> check_load(const LoadArguments& arguments);

}  // namespace llmprof::session
